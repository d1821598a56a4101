const kinds = ['site', 'no-site', 'country', 'expired', 'clip-expired'] as const;

/** Answer of the server to a viewer who may not play. */
export interface Refusal {
  /** The server's text for the viewer; undefined in the response of a proxy. */
  readonly text: string | undefined;
  /** Undefined for reasons of a hook, and for mistakes in a token. */
  readonly kind: (typeof kinds)[number] | undefined;
}

export async function readRefusal(response: Response): Promise<Refusal> {
  try {
    const { detail, reason } = (await response.json()) as Readonly<Record<string, unknown>>;
    return {
      text: typeof detail === 'string' ? detail : undefined,
      kind: kinds.find(kind => kind === reason),
    };
  } catch {
    return { text: undefined, kind: undefined };
  }
}
