// Drives a listening `arenero cloud` with the official SDK, once through every
// operation and once through every error each operation declares, and prints
// one JSON line per observation for the Go test to judge and tabulate:
//
//   {"op", "want", "got", "how", "detail"}
//
// want is "success" or an error class; got is what the SDK made of the answer.
// how tells a cause that any client could bring about ("natural") from one
// that the fault file scripted ("scripted").
import { readFileSync, writeFileSync, renameSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import * as sdk from "@aws-sdk/client-lambda-microvms";

const { FAULTS, IMAGE_ARN } = process.env;
const client = new sdk.LambdaMicrovmsClient({ maxAttempts: 1 });
const arn = (name) => IMAGE_ARN.replace(/[^:]+$/, name);
const role = "arn:aws:iam::000000000000:role/build";
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function report(op, want, got, how, detail = "") {
  console.log(JSON.stringify({ op, want, got, how, detail }));
}

const call = (op, input) => client.send(new sdk[`${op}Command`](input));

// succeed calls op and hands the answer to check, which returns a complaint or
// nothing.
async function succeed(op, input, check = () => "") {
  try {
    const out = await call(op, input);
    const complaint = check(out) || "";
    report(op, "success", complaint ? "wrong answer" : "success", "natural", complaint);
    return out;
  } catch (err) {
    report(op, "success", err.name, "natural", err.message);
    return undefined;
  }
}

// fail calls op and expects the error class want, as the SDK's own type.
async function fail(op, want, input, how = "natural") {
  try {
    await call(op, input);
    report(op, want, "success", how);
  } catch (err) {
    const typed = sdk[want] && err instanceof sdk[want];
    report(op, want, typed ? want : `${err.name} (not the SDK's ${want})`, how, typed ? "" : String(err.message));
  }
}

function faults(rules) {
  writeFileSync(`${FAULTS}.new`, JSON.stringify({ rules }));
  renameSync(`${FAULTS}.new`, FAULTS);
}

async function until(what, probe) {
  for (let i = 0; i < 600; i++) {
    const out = await probe();
    if (out) return out;
    await sleep(50);
  }
  throw new Error(`gave up waiting for ${what}`);
}

// declared reads the errors an operation can throw out of the SDK's own types,
// so that the table can't be shorter than the model.
function declared(op) {
  const main = createRequire(import.meta.url).resolve("@aws-sdk/client-lambda-microvms");
  const file = join(dirname(main), "..", "dist-types", "commands", `${op}Command.d.ts`);
  const names = [...readFileSync(file, "utf8").matchAll(/@throws \{@link (\w+)\}/g)].map((m) => m[1]);
  return [...new Set(names)].filter((n) => n !== "LambdaMicrovmsServiceException");
}

const isDate = (v) => v instanceof Date && !Number.isNaN(v.getTime()) && Math.abs(v.getTime() - Date.now()) < 600_000;
const need = (ok, what) => (ok ? "" : what);

const image = {
  name: "built",
  baseImageArn: IMAGE_ARN.replace(/:\d{12}:microvm-image:.*$/, ":aws:microvm-image:al2023-1"),
  buildRoleArn: role,
  codeArtifact: { uri: "s3://bucket/context.zip" },
  resources: [{ minimumMemoryInMiB: 512 }],
  environmentVariables: { MODE: "test" },
  tags: { team: "a b" },
};
const built = arn("built");

const active = (version) =>
  until(`version ${version}`, async () => {
    const v = await call("GetMicrovmImageVersion", { imageIdentifier: built, imageVersion: version });
    return v.state === "SUCCESSFUL" && v.status === "ACTIVE";
  });
const state = (id, want) => until(`${id} ${want}`, async () => (await call("GetMicrovm", { microvmIdentifier: id })).state === want);

async function successes() {
  await succeed("CreateMicrovmImage", image, (o) =>
    need(o.imageArn === built, `arn ${o.imageArn}`) || need(isDate(o.createdAt), "createdAt is no date") || need(o.state === "CREATING", o.state));
  await active("1.0");
  await succeed("UpdateMicrovmImage", { ...image, imageIdentifier: built, name: undefined, tags: undefined }, (o) =>
    need(isDate(o.updatedAt), "updatedAt is no date") || need(o.imageVersion === "2.0", o.imageVersion));
  await active("2.0");
  await succeed("GetMicrovmImage", { imageIdentifier: built }, (o) =>
    need(o.latestActiveImageVersion === "2.0", o.latestActiveImageVersion) || need(o.tags?.team === "a b", JSON.stringify(o.tags)));
  await succeed("ListMicrovmImages", { maxResults: 50 }, (o) =>
    need(o.items.some((i) => i.name === "arenero-local"), "no arenero-local") || need(o.items.every((i) => i.createdAt instanceof Date), "createdAt is no date"));
  await succeed("GetMicrovmImageVersion", { imageIdentifier: built, imageVersion: "2.0" }, (o) =>
    need(o.resources?.[0]?.minimumMemoryInMiB === 512, JSON.stringify(o.resources)) || need(isDate(o.createdAt), "createdAt is no date"));
  await succeed("ListMicrovmImageVersions", { imageIdentifier: built }, (o) => need(o.items.length === 2, `${o.items.length} versions`));
  const builds = await succeed("ListMicrovmImageBuilds", { imageIdentifier: built, imageVersion: "2.0" }, (o) =>
    need(o.items.length === 2, `${o.items.length} builds`) || need(o.items.every((b) => isDate(b.createdAt)), "createdAt is no date"));
  await succeed("GetMicrovmImageBuild", { imageIdentifier: built, imageVersion: "2.0", ...coordinates(builds?.items?.[0]) }, (o) =>
    need(typeof o.snapshotBuild?.memorySnapshotSizeInBytes === "number", JSON.stringify(o.snapshotBuild)));
  await succeed("UpdateMicrovmImageVersion", { imageIdentifier: built, imageVersion: "1.0", status: "INACTIVE" }, (o) => need(o.status === "INACTIVE", o.status));
  const managed = await succeed("ListManagedMicrovmImages", {}, (o) => need(o.items.length > 0, "none"));
  await succeed("ListManagedMicrovmImageVersions", { imageIdentifier: managed?.items?.[0]?.imageArn }, (o) => need(o.items.length > 0, "none"));

  await succeed("TagResource", { Resource: built, Tags: { "cost/center": "7 = ü" } });
  await succeed("ListTags", { Resource: built }, (o) => need(o.Tags["cost/center"] === "7 = ü" && o.Tags.team === "a b", JSON.stringify(o.Tags)));
  await succeed("UntagResource", { Resource: built, TagKeys: ["cost/center", "team"] });

  const idlePolicy = { maxIdleDurationSeconds: 600, suspendedDurationSeconds: 600, autoResumeEnabled: true };
  const vm = await succeed("RunMicrovm", { imageIdentifier: IMAGE_ARN, idlePolicy, maximumDurationInSeconds: 3600,
    ingressNetworkConnectors: ["HTTP_INGRESS", "SHELL_INGRESS"].map((c) => IMAGE_ARN.replace(/:\d{12}:.*$/, `:aws:network-connector:aws-network-connector:${c}`)) }, (o) =>
    need(isDate(o.startedAt), "startedAt is no date") || need(/^[^/:]+(:\d+)?$/.test(o.endpoint), o.endpoint) ||
    need(o.idlePolicy.maxIdleDurationSeconds === 600, JSON.stringify(o.idlePolicy)) || need(o.state === "PENDING", o.state));
  const id = vm.microvmId;
  await state(id, "RUNNING");
  await succeed("GetMicrovm", { microvmIdentifier: id }, (o) => need(o.endpoint === vm.endpoint, o.endpoint) || need(o.startedAt instanceof Date && +o.startedAt === +vm.startedAt, "startedAt moved"));
  await succeed("CreateMicrovmAuthToken", { microvmIdentifier: id, expirationInMinutes: 5, allowedPorts: [{ port: 8080 }, { range: { startPort: 3000, endPort: 3010 } }] }, (o) =>
    need(JSON.stringify(Object.keys(o.authToken)) === '["X-aws-proxy-auth"]', Object.keys(o.authToken).join()) || need(o.authToken["X-aws-proxy-auth"].split(".").length === 5, "not five parts"));
  await succeed("CreateMicrovmShellAuthToken", { microvmIdentifier: id, expirationInMinutes: 5 }, (o) => need(o.authToken["X-aws-proxy-auth"], "no token"));
  await succeed("SuspendMicrovm", { microvmIdentifier: id });
  await state(id, "SUSPENDED");
  await succeed("ResumeMicrovm", { microvmIdentifier: id });
  await state(id, "RUNNING");

  // Pages: two more VMs, then one at a time by the SDK's own paginator.
  const more = [];
  for (let i = 0; i < 2; i++) more.push((await call("RunMicrovm", { imageIdentifier: IMAGE_ARN, maximumDurationInSeconds: 600 })).microvmId);
  const seen = [];
  let pages = 0;
  for await (const page of sdk.paginateListMicrovms({ client, pageSize: 1 }, {})) {
    pages++;
    seen.push(...page.items.map((i) => i.microvmId));
  }
  const all = [id, ...more].every((v) => seen.filter((s) => s === v).length === 1);
  report("ListMicrovms", "success", all && pages >= 3 ? "success" : "wrong answer", "natural", all ? "" : `saw ${seen.length} in ${pages} pages`);

  for (const v of more) await call("TerminateMicrovm", { microvmIdentifier: v });
  await succeed("TerminateMicrovm", { microvmIdentifier: id });
  await until("terminated", async () => {
    const o = await call("GetMicrovm", { microvmIdentifier: id });
    return o.state === "TERMINATED" && o.terminatedAt instanceof Date;
  });
  await succeed("DeleteMicrovmImageVersion", { imageIdentifier: built, imageVersion: "1.0" }, (o) => need(o.state, "no state"));
  await until("version gone", async () => {
    try {
      await call("GetMicrovmImageVersion", { imageIdentifier: built, imageVersion: "1.0" });
    } catch (err) {
      if (err instanceof sdk.ResourceNotFoundException) return true;
      throw err;
    }
  });
  await succeed("DeleteMicrovmImage", { imageIdentifier: built }, (o) => need(o.state, "no state"));
}

const coordinates = (b) => b && { buildId: b.buildId };

// inputs hold, for each operation, a call that is well formed; the scripted
// errors use it as it is, and the natural ones spoil it.
const vmID = "microvm-00000000-0000-4000-8000-000000000000";
const inputs = {
  RunMicrovm: { imageIdentifier: IMAGE_ARN },
  GetMicrovm: { microvmIdentifier: vmID },
  ListMicrovms: {},
  SuspendMicrovm: { microvmIdentifier: vmID },
  ResumeMicrovm: { microvmIdentifier: vmID },
  TerminateMicrovm: { microvmIdentifier: vmID },
  CreateMicrovmAuthToken: { microvmIdentifier: vmID, expirationInMinutes: 5, allowedPorts: [{ port: 8080 }] },
  CreateMicrovmShellAuthToken: { microvmIdentifier: vmID, expirationInMinutes: 5 },
  CreateMicrovmImage: { ...image, name: "other" },
  UpdateMicrovmImage: { ...image, imageIdentifier: arn("none"), name: undefined, tags: undefined },
  GetMicrovmImage: { imageIdentifier: arn("none") },
  DeleteMicrovmImage: { imageIdentifier: arn("none") },
  ListMicrovmImages: {},
  GetMicrovmImageVersion: { imageIdentifier: arn("none"), imageVersion: "1.0" },
  ListMicrovmImageVersions: { imageIdentifier: arn("none") },
  UpdateMicrovmImageVersion: { imageIdentifier: arn("none"), imageVersion: "1.0", status: "ACTIVE" },
  DeleteMicrovmImageVersion: { imageIdentifier: arn("none"), imageVersion: "1.0" },
  GetMicrovmImageBuild: { imageIdentifier: arn("none"), imageVersion: "1.0", buildId: "build-1" },
  ListMicrovmImageBuilds: { imageIdentifier: arn("none"), imageVersion: "1.0" },
  ListManagedMicrovmImages: {},
  ListManagedMicrovmImageVersions: { imageIdentifier: arn("none").replace(/:\d{12}:/, ":aws:") },
  ListTags: { Resource: arn("none") },
  TagResource: { Resource: arn("none"), Tags: { a: "b" } },
  UntagResource: { Resource: arn("none"), TagKeys: ["a"] },
};

const long = "x".repeat(257);
const spoiled = {
  RunMicrovm: { imageIdentifier: IMAGE_ARN, runHookPayload: "x".repeat(4097) },
  GetMicrovm: { microvmIdentifier: long },
  ListMicrovms: { maxResults: 51 },
  SuspendMicrovm: { microvmIdentifier: long },
  ResumeMicrovm: { microvmIdentifier: long },
  TerminateMicrovm: { microvmIdentifier: long },
  CreateMicrovmAuthToken: { microvmIdentifier: vmID, expirationInMinutes: 61, allowedPorts: [{ port: 8080 }] },
  CreateMicrovmShellAuthToken: { microvmIdentifier: vmID, expirationInMinutes: 61 },
  CreateMicrovmImage: { ...image, name: "other", resources: [{ minimumMemoryInMiB: 513 }] },
  UpdateMicrovmImage: { ...image, imageIdentifier: arn("none"), name: undefined, tags: undefined, codeArtifact: { uri: "file:///x" } },
  GetMicrovmImage: { imageIdentifier: "bare-name" },
  DeleteMicrovmImage: { imageIdentifier: "bare-name" },
  ListMicrovmImages: { maxResults: 51 },
  GetMicrovmImageVersion: { imageIdentifier: "bare-name", imageVersion: "1.0" },
  ListMicrovmImageVersions: { imageIdentifier: "bare-name" },
  UpdateMicrovmImageVersion: { imageIdentifier: arn("none"), imageVersion: "1.0", status: "SLEEPY" },
  DeleteMicrovmImageVersion: { imageIdentifier: "bare-name", imageVersion: "1.0" },
  GetMicrovmImageBuild: { imageIdentifier: "bare-name", imageVersion: "1.0", buildId: "b" },
  ListMicrovmImageBuilds: { imageIdentifier: "bare-name", imageVersion: "1.0" },
  ListManagedMicrovmImages: { maxResults: 51 },
  ListManagedMicrovmImageVersions: { imageIdentifier: "bare-name" },
  ListTags: null,
  TagResource: null,
  UntagResource: null,
};

async function errors() {
  for (const op of Object.keys(inputs)) {
    for (const want of declared(op)) {
      // The error that a client can bring about by itself, where there is one.
      if (want === "ValidationException" && spoiled[op]) await fail(op, want, spoiled[op]);
      else if (want === "ResourceNotFoundException" && !["CreateMicrovmImage", "ListMicrovms"].includes(op)) {
        await fail(op, want, op === "RunMicrovm" ? { imageIdentifier: arn("none") } : inputs[op]);
      } else if (want === "InvalidParameterValueException") {
        await fail(op, want, { ...inputs[op], Resource: "not-an-arn" });
      } else {
        faults([{ operation: op, error: want, retry_after_seconds: 7, count: 1 }]);
        await fail(op, want, inputs[op], "scripted");
        faults([]);
      }
    }
  }
  // Conflict as it really comes about: a second change while one runs.
  await call("CreateMicrovmImage", { ...image, name: "twice" });
  await fail("UpdateMicrovmImage", "ConflictException", { ...inputs.UpdateMicrovmImage, imageIdentifier: arn("twice") });

  // The hint to wait travels in a header and reaches the caller as a number.
  faults([{ operation: "GetMicrovm", error: "ThrottlingException", retry_after_seconds: 7, count: 1 }]);
  try {
    await call("GetMicrovm", inputs.GetMicrovm);
  } catch (err) {
    report("GetMicrovm", "retryAfterSeconds", err.retryAfterSeconds === 7 ? "retryAfterSeconds" : String(err.retryAfterSeconds), "scripted");
  }
  faults([]);

  // A wrong key, as the front end answers it.
  const stranger = new sdk.LambdaMicrovmsClient({ maxAttempts: 1, credentials: { accessKeyId: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "wrong" } });
  try {
    await stranger.send(new sdk.ListMicrovmsCommand({}));
    report("ListMicrovms", "wrong key", "success", "natural");
  } catch (err) {
    report("ListMicrovms", "wrong key", err.$metadata?.httpStatusCode === 403 ? "wrong key" : err.name, "natural", err.name);
  }
}

await successes();
await errors();
client.destroy();
