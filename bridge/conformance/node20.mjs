// Lets the conformance suite load on Node 20: it imports globSync from "fs",
// which came with Node 22, and does not call it to test a server.
// Use: node --import ./node20.mjs ...
import fs from "node:fs";
import { register } from "node:module";

const shim = `data:text/javascript,${encodeURIComponent(`
  export * from "node:fs";
  export { default } from "node:fs";
  export function globSync() { throw new Error("globSync needs Node 22"); }
`)}`;

const hooks = `
  export function resolve(specifier, context, next) {
    const ours = specifier === "fs" && context.parentURL?.includes("conformance");
    return ours ? { url: ${JSON.stringify(shim)}, shortCircuit: true } : next(specifier, context);
  }
`;

if (!("globSync" in fs)) register(`data:text/javascript,${encodeURIComponent(hooks)}`);
