import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type ShellDialog, shellDialog } from '../state/shell-dialog.ts';
import { withTexts } from '../state/texts.ts';
import { useLocation } from '../ui/hooks/use-location.ts';
import { showError } from '../ui/toast.tsx';

type DialogComponent = ComponentType<{ onClose: () => void }>;

const goLive = () => import('../pages/live/go-live-dialog.tsx');

const dialogs: Readonly<Record<ShellDialog, () => Promise<DialogComponent>>> = {
  language: () => import('./language-dialog.tsx').then(module => module.LanguageDialog),
  search: () => import('./palette/palette.tsx').then(module => module.Palette),
  upload: () => import('../pages/videos/upload-dialog.tsx').then(module => module.UploadDialog),
  browser: () => goLive().then(module => module.GoLiveFromBrowser),
  encoder: () => goLive().then(module => module.GoLiveWithEncoder),
  source: () => goLive().then(module => module.GoLiveFromSource),
};

/** Shows the dialog that was opened, once its code is loaded. */
export function ShellDialogs() {
  const { path } = useLocation();
  const name = shellDialog.value;
  const [shown, setShown] = useState<{ readonly name: ShellDialog; readonly component: DialogComponent }>();
  useEffect(() => {
    setShown(undefined);
    if (name === undefined) return;
    let isWanted = true;
    withTexts(dialogs[name]()).then(
      component => {
        if (isWanted) setShown({ name, component });
      },
      (error: unknown) => {
        shellDialog.value = undefined;
        showError(error);
      },
    );
    return () => {
      isWanted = false;
    };
  }, [name]);
  // Back leads to another page.
  useEffect(
    () => () => {
      shellDialog.value = undefined;
    },
    [path],
  );
  if (shown === undefined || shown.name !== name) return null;
  const { component: Shown } = shown;
  return (
    <Shown
      onClose={() => {
        // Another one may have been opened by it.
        if (shellDialog.peek() === shown.name) shellDialog.value = undefined;
      }}
    />
  );
}
