const maxNameChars = 64;
/** Browsers write up to 200. */
const maxAgentChars = 512;

/** Browsers, the more specific names first. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/OBS-Studio\/([\d.]+)/, 'OBS Studio'],
  [/Edg\/(\d+)/, 'Edge'],
  [/Firefox\/(\d+)/, 'Firefox'],
  [/Chrome\/(\d+)/, 'Chrome'],
  [/Version\/(\d+).* Safari\//, 'Safari'],
];

/** The name that people know a `User-Agent` by; other agents as they are. */
export function encoderName(header: string): string {
  const userAgent = header.slice(0, maxAgentChars);
  for (const [pattern, name] of browsers) {
    const version = pattern.exec(userAgent)?.[1];
    if (version !== undefined) return `${name} ${version.slice(0, 16)}`;
  }
  return userAgent.replace(/[^\x20-\x7e]/g, '').slice(0, maxNameChars);
}
