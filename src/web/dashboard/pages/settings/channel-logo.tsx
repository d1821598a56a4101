import { useId, useRef } from 'preact/hooks';
import type { Channel } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { localUrl } from '../../format/local-url.ts';
import { Button } from '../../ui/button.tsx';
import { ProblemNotice } from '../../ui/dialog/problem-notice.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { showToast } from '../../ui/toast.tsx';

/** The logo is saved at once, unlike the form above it. */
export function ChannelLogo({
  channel: { hasLogo, logo },
  onChange,
  onRemoved,
}: {
  channel: Channel;
  onChange: (channel: Channel) => void;
  onRemoved: () => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  const hint = useId();
  const upload = useSubmit(async () => {
    const file = input.current?.files?.[0];
    if (file === undefined) return;
    const body = new FormData();
    body.append('file', file);
    try {
      onChange(await call('POST /account/channel/logo', { body }));
      showToast('Logo uploaded.');
    } finally {
      // Allows the same file to be chosen again.
      if (input.current !== null) input.current.value = '';
    }
  });
  const removal = useSubmit(async () => {
    await call('DELETE /account/channel/logo');
    onRemoved();
    showToast('Logo removed.');
  });
  return (
    <>
      <h3>Logo</h3>
      {logo !== undefined && <img class="channel-logo" src={localUrl(logo)} alt="The logo of the channel" />}
      <p class="hint" id={hint}>
        {hasLogo && logo === undefined ? 'Shown when the channel is on. ' : ''}A square JPEG or PNG image, up
        to 1024 pixels and 200 KB. Without one, the channel shows the first letter of its name.
      </p>
      <input
        ref={input}
        class="for-readers"
        type="file"
        accept="image/jpeg,image/png"
        aria-label="Logo of the channel"
        aria-describedby={hint}
        tabIndex={-1}
        onChange={() => {
          removal.clear();
          upload.submit();
        }}
      />
      <ProblemNotice problem={upload.problem ?? removal.problem} />
      <div class="actions">
        <Button icon="upload" busy={upload.busy} onClick={() => input.current?.click()}>
          {hasLogo ? 'Replace logo' : 'Upload logo'}
        </Button>
        {hasLogo && (
          <Button
            kind="quiet"
            icon="trash"
            busy={removal.busy}
            onClick={() => {
              upload.clear();
              removal.submit();
            }}
          >
            Remove logo
          </Button>
        )}
      </div>
    </>
  );
}
