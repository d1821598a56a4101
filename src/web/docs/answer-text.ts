/** More of a body would make the page slow. */
const maxShownCharacters = 200_000;

/** Reads what a page shows of a response. */
export async function answerText(response: Response): Promise<string> {
  const type = response.headers.get('content-type') ?? '';
  if (!/^(?:text\/|application\/(?:json|vnd\.apple))/.test(type)) {
    const { size } = await response.blob();
    return size === 0 ? '' : `${size} bytes of ${type}`;
  }
  const text = await response.text();
  const shown = type.startsWith('application/json') ? indented(text) : text;
  return shown.length > maxShownCharacters ? `${shown.slice(0, maxShownCharacters)}…` : shown;
}

/** A proxy may call something JSON that is not. */
function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

export function createButton(text: string): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = text;
  return button;
}
