import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { session } from '../state/session.ts';

/** Where uploads are shown. Their code comes after that of the page, which nobody should wait for. */
export function UploadDock() {
  const [Panel, setPanel] = useState<ComponentType>();
  const accountId = session.value?.account.accountId;
  useEffect(() => {
    let isWanted = true;
    import('./upload-start.ts').then(
      ({ UploadPanel, showUploadsOf }) => {
        if (!isWanted) return;
        setPanel(() => UploadPanel);
        showUploadsOf(accountId);
      },
      // The server is gone or was updated; pages say so.
      () => {},
    );
    return () => {
      isWanted = false;
    };
  }, [accountId]);
  return Panel === undefined ? null : <Panel />;
}
