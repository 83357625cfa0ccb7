package app

import (
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/price"
)

// Of each size there is a price in each region of the table; one that is not in
// it has none.
func TestSizePrice(t *testing.T) {
	table, now := price.Embedded(), time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	p, ok := sizePrice(table, "us-east-1", 2048, now)
	if !ok || p.MilliVCPU != 1000 {
		t.Fatalf("of 2 GiB: %+v, %v", p, ok)
	}
	// a vCPU at $0.0000276944 and 2 GB at $0.0000036667 a second, rounded up
	if p.Base != 126_101 || p.Peak != 504_401 {
		t.Errorf("an hour of 2 GiB is %d, and at most %d", p.Base, p.Peak)
	}
	if _, ok := sizePrice(table, "us-east-1", 3000, now); ok {
		t.Error("a size that is not sold has a price")
	}
	if _, ok := sizePrice(table, "xx-none-1", 2048, now); ok {
		t.Error("a region that is not known has a price")
	}
}
