/** An RTMP address without what may be secret in it: user, password, and what follows a `?`. */
export function redactServerUrl(serverUrl: string): string {
  return serverUrl.replace(/^(rtmps?:\/\/)[^/?#\s@]*@/i, '$1').replace(/[?#].*$/, '');
}
