// Calls a tool that fails, through the TypeScript SDK: sdk.mjs SERVER
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const client = new Client({ name: "test", version: "1" });
await client.connect(new StdioClientTransport({ command: process.argv[2], env: { BRIDGE_TEST_SERVER: "echo" }, stderr: "ignore" }));
await client.listTools(); // from now on it knows the output schemas
const { content, structuredContent } = await client.callTool({ name: "fail", arguments: { text: "hola" } });
console.log(content[0].text, structuredContent.code);
await client.close();
