import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { session } from '../state/session.ts';
import { withTexts } from '../state/texts.ts';

export function UploadDock() {
  const [Panel, setPanel] = useState<ComponentType>();
  const accountId = session.value?.account.accountId;
  useEffect(() => {
    let isWanted = true;
    withTexts(import('./upload-start.ts')).then(
      ({ UploadPanel, showUploadsOf }) => {
        if (!isWanted) return;
        setPanel(() => UploadPanel);
        showUploadsOf(accountId);
      },
      // Pages show the failure.
      () => {},
    );
    return () => {
      isWanted = false;
    };
  }, [accountId]);
  return Panel === undefined ? null : <Panel />;
}
