// Asks the cloud for its images with whatever credentials the official SDK finds
// by itself, and prints their names and where the credentials came from.
import * as sdk from "@aws-sdk/client-lambda-microvms";

const client = new sdk.LambdaMicrovmsClient({ maxAttempts: 1 });
const { items } = await client.send(new sdk.ListMicrovmImagesCommand({}));
const credentials = await client.config.credentials();
console.log(JSON.stringify({ images: items.map((i) => i.name), features: Object.keys(credentials.$source ?? {}) }));
client.destroy();
