import type { ComponentChildren } from 'preact';
import { EmptyState } from '../../ui/states.tsx';

export function FirstStream({ action }: { action: ComponentChildren }) {
  return (
    <div class="card first-stream">
      <EmptyState icon="live" title="Go live in three steps" action={action} />
      <ol class="steps">
        <li>
          <strong>Create a live stream.</strong> It has its own stream key, which doesn’t change.
        </li>
        <li>
          <strong>Enter the server and stream key in your encoder,</strong> such as OBS Studio. You’ll find
          both on the live stream’s page.
        </li>
        <li>
          <strong>Start streaming.</strong> The page shows your video within seconds, with links to share.
        </li>
      </ol>
    </div>
  );
}
