/** The viewer of the API document, as far as this page uses it. A script before this one brings it. */
interface SwaggerOptions {
  readonly spec: unknown;
  readonly domNode: Element;
  readonly [option: string]: unknown;
}
declare const SwaggerUIBundle: (options: SwaggerOptions) => unknown;

followColourScheme();
void showReference();

/** The viewer has a dark form, but leaves it to the page when to show it. */
function followColourScheme(): void {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const apply = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
  dark.addEventListener('change', apply);
  apply();
}

async function showReference(): Promise<void> {
  const domNode = document.querySelector('#reference-viewer');
  const notice = document.querySelector('#reference-notice');
  if (domNode === null || notice === null) return;
  try {
    const response = await fetch('/openapi.json');
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    const spec = (await response.json()) as { servers: unknown };
    // Requests go to where this page came from, by whatever name: the page may talk to nobody else.
    spec.servers = [{ url: location.origin }];
    SwaggerUIBundle({
      spec,
      domNode,
      deepLinking: true,
      docExpansion: 'none',
      defaultModelsExpandDepth: 0,
      displayRequestDuration: true,
      filter: true,
      persistAuthorization: false,
      validatorUrl: null,
    });
    showKeyFirst(domNode);
    notice.remove();
  } catch (error) {
    notice.textContent = `The reference cannot be shown: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** The viewer begins its dialog of credentials at the last form; the first is the one for the key. */
function showKeyFirst(viewer: Element): void {
  viewer.addEventListener('click', ({ target }) => {
    if (!(target instanceof Element) || target.closest('.dialog-ux') !== null) return;
    if (target.closest('.authorize, .authorization__btn') === null) return;
    setTimeout(() => {
      viewer.querySelector<HTMLElement>('.dialog-ux input')?.focus();
      viewer.querySelector('.dialog-ux .modal-ux-content')?.scrollTo(0, 0);
    });
  });
}
