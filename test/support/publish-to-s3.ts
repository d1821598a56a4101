/** `node publish-to-s3.ts URL DATA_DIR publish|keep FROM TO`: for tests that kill it meanwhile. */
import { openTestS3Storage } from './s3-storage.ts';

const [url, dataDir, verb, from, to] = process.argv.slice(2) as [string, string, string, string, string];
const storage = await openTestS3Storage({ url, dataDir });
if (verb === 'keep') await storage.keep([from]);
else await storage.publish(from, to);
await storage.stop();
