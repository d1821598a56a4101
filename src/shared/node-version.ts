/** First version in which a server can decline an upgrade and handle the request as an ordinary one. */
const minVersion = { major: 24, minor: 9 };

export function unsupportedNodeReason(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > minVersion.major || (major === minVersion.major && minor >= minVersion.minor)) return undefined;
  return `Millrace needs Node ${minVersion.major}.${minVersion.minor} or newer, this is ${version}.`;
}
