interface HtmlPolicy {
  createHTML(html: string): unknown;
}

interface PolicyFactory {
  createPolicy(name: string, rules: { createHTML(html: string): string }): HtmlPolicy;
}

const { trustedTypes } = globalThis as { readonly trustedTypes?: PolicyFactory };
let policy: HtmlPolicy | undefined;

/** Marks HTML of this code as trusted, for pages that require trusted types. */
export function trustedHtml(html: string): string {
  policy ??= createPolicy();
  return (policy?.createHTML(html) ?? html) as string;
}

function createPolicy(): HtmlPolicy | undefined {
  const rules = { createHTML: (html: string) => html };
  try {
    return trustedTypes?.createPolicy('millrace-player', rules);
  } catch {
    // Another copy of this code has the name.
    return trustedTypes?.createPolicy(`millrace-player-${crypto.randomUUID()}`, rules);
  }
}
