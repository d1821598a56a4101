import { useId, useRef } from 'preact/hooks';
import type { LiveStream } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { versionedUrl } from '../../format/local-url.ts';
import { Button } from '../../ui/button.tsx';
import { ProblemNotice } from '../../ui/dialog/problem-notice.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { Card } from '../../ui/page.tsx';
import { showToast } from '../../ui/toast.tsx';

export function ThumbnailCard({
  stream,
  onChange,
}: {
  stream: LiveStream;
  onChange: (stream: LiveStream) => void;
}) {
  const { liveStreamId, name, hasThumbnail = false, assets, updatedAt } = stream;
  const params = { liveStreamId };
  const input = useRef<HTMLInputElement>(null);
  const hint = useId();
  const upload = useSubmit(async () => {
    const file = input.current?.files?.[0];
    if (file === undefined) return;
    const body = new FormData();
    body.append('file', file);
    try {
      onChange(await call('POST /live-streams/{liveStreamId}/thumbnail', { params, body }));
      showToast('Thumbnail uploaded.');
    } finally {
      // Allows the same file to be chosen again.
      if (input.current !== null) input.current.value = '';
    }
  });
  const removal = useSubmit(async () => {
    onChange(await call('DELETE /live-streams/{liveStreamId}/thumbnail', { params }));
    showToast('Thumbnail removed.');
  });
  return (
    <Card title="Thumbnail">
      <img
        class="thumbnail"
        src={versionedUrl(assets.thumbnail, updatedAt)}
        alt={`Shown for ${name}`}
        width={640}
        height={360}
      />
      <p class="hint" id={hint}>
        JPEG, PNG or WebP, up to 8 MB. Without one, a frame of the broadcast is shown.
      </p>
      <input
        ref={input}
        class="for-readers"
        type="file"
        accept="image/jpeg,image/png,image/webp"
        aria-label="Thumbnail of the live stream"
        tabIndex={-1}
        onChange={() => {
          removal.clear();
          upload.submit();
        }}
      />
      <ProblemNotice problem={upload.problem ?? removal.problem} />
      <div class="actions">
        <Button icon="upload" busy={upload.busy} onClick={() => input.current?.click()}>
          Upload thumbnail
        </Button>
        {hasThumbnail && (
          <Button
            kind="quiet"
            icon="trash"
            busy={removal.busy}
            onClick={() => {
              upload.clear();
              removal.submit();
            }}
          >
            Remove thumbnail
          </Button>
        )}
      </div>
    </Card>
  );
}
