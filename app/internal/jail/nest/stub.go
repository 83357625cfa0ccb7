package nest

func main() int { return 1 }
