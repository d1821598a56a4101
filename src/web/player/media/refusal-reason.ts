/** Returns the server's text for the viewer; undefined in the response of a proxy. */
export async function refusalReason(response: Response): Promise<string | undefined> {
  try {
    return ((await response.json()) as { readonly detail?: string }).detail;
  } catch {
    return undefined;
  }
}
