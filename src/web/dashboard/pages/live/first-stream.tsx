import type { ComponentChildren } from 'preact';
import { EmptyState } from '../../ui/states.tsx';

export function FirstStream({ action }: { action: ComponentChildren }) {
  return (
    <div class="card first-stream">
      <EmptyState icon="live" title="Go live in three steps" action={action} />
      <ol class="steps">
        <li>
          <strong>Create a live stream.</strong> It has a key of its own, which stays the same.
        </li>
        <li>
          <strong>Type the server and the key into your encoder,</strong> such as OBS Studio. The page of the
          live stream shows both.
        </li>
        <li>
          <strong>Start streaming.</strong> The page shows the picture within seconds, with links to share.
        </li>
      </ol>
    </div>
  );
}
