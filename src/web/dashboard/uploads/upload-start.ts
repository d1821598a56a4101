import { clearUploads, showInterrupted } from './upload-queue.ts';

export { UploadPanel } from './upload-panel.tsx';

let owner: string | undefined;

export function showUploadsOf(accountId: string | undefined): void {
  if (accountId === undefined) return;
  if (owner !== undefined && owner !== accountId) clearUploads();
  owner = accountId;
  void showInterrupted();
}

/** A file that is dropped elsewhere would replace the dashboard. */
for (const type of ['dragover', 'drop'] as const) {
  addEventListener(type, event => {
    const isField = event.target instanceof HTMLInputElement;
    if (!isField && event.dataTransfer?.types.includes('Files') === true) event.preventDefault();
  });
}
