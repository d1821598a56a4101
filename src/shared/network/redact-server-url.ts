/** Removes user, password and query, which may be secrets. */
export function redactServerUrl(serverUrl: string): string {
  return serverUrl.replace(/^((?:rtmps?|srt|rtsps?|https?):\/\/)[^/?#\s@]*@/i, '$1').replace(/[?#].*$/, '');
}
