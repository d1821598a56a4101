/** Removes possible secrets from an RTMP URL: user, password and query. */
export function redactServerUrl(serverUrl: string): string {
  return serverUrl.replace(/^(rtmps?:\/\/)[^/?#\s@]*@/i, '$1').replace(/[?#].*$/, '');
}
