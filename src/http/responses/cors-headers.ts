/** Never allow credentials here, nor `Millrace-Environment` below: cookies are for the server's own pages. */
export const corsHeaders: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers':
    'Allow, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Retry-After, X-Request-Id',
};

export const preflightHeaders: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
  'Access-Control-Allow-Headers':
    'Authorization, Content-Type, Content-Range, AV-Origin-Client, AV-Origin-App, AV-Origin-Sdk, X-Token-Session',
  'Access-Control-Max-Age': '86400',
};
