/** Keys and metadata of large providers have about 10 kB. */
const maxResponseBytes = 512 * 1024;

/** Fetches a response whose whole body is read, up to a limit. */
export async function boundedFetch(
  url: string,
  { body, ...options }: Omit<RequestInit, 'body'> & { readonly body?: unknown },
): Promise<Response> {
  const response = await fetch(url, { ...options, body: (body ?? null) as RequestInit['body'] & {} });
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    // Leaving the loop cancels the body.
    if (bytes > maxResponseBytes) throw new TypeError(`the answer is larger than ${maxResponseBytes} B`);
    chunks.push(chunk);
  }
  const { status, headers } = response;
  return new Response(chunks.length === 0 ? null : Buffer.concat(chunks), { status, headers });
}
