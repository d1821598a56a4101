/** From 24.9 on, a server can leave what asks for an upgrade that is not meant for it to its ordinary handler. */
const minVersion = { major: 24, minor: 9 };

/**
 * Why this Node cannot run the server, in a sentence.
 *
 * @param version such as `24.21.0`
 * @returns undefined when it can
 */
export function unsupportedNodeReason(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > minVersion.major || (major === minVersion.major && minor >= minVersion.minor)) return undefined;
  return `Millrace needs Node ${minVersion.major}.${minVersion.minor} or newer, this is ${version}.`;
}
