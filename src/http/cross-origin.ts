/** Headers of every answer, so that pages of any origin can use the API. Credentials come in a header, never in a cookie. */
export const crossOriginHeaders: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers':
    'Allow, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Retry-After, X-Request-Id',
};

/** Headers of the answer to a browser that asks first. */
export const preflightHeaders: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
  'Access-Control-Allow-Headers':
    'Authorization, Content-Type, Content-Range, AV-Origin-Client, AV-Origin-App, AV-Origin-Sdk, X-Token-Session',
  'Access-Control-Max-Age': '86400',
};
