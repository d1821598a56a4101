import type { ComponentChildren } from 'preact';
import { can } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Card } from '../../ui/page.tsx';
import type { CompletedSteps } from './completed-steps.ts';
import { GoLiveStep } from './go-live-step.tsx';
import type { Overview } from './use-overview.ts';

export function FirstSteps({
  overview,
  done,
  reload,
  onHide,
}: {
  overview: Overview;
  done: CompletedSteps;
  reload: () => void;
  onHide: () => void;
}) {
  return (
    <Card
      title="Get started"
      actions={
        <Button small kind="quiet" onClick={onHide}>
          Hide
        </Button>
      }
    >
      <ol class="first-steps">
        <Step number={1} title="Go live" isDone={done.live}>
          <GoLiveStep streams={overview.streams} reload={reload} />
        </Step>
        <Step number={2} title="Upload a video" isDone={done.video}>
          <p class="hint">Any video file works. We encode it for every screen.</p>
          <div class="actions">
            <Button icon="upload" href="/dashboard/videos">
              Upload a video
            </Button>
          </div>
        </Step>
        {can('admin') && (
          <Step number={3} title="Create an API key" isDone={done.key}>
            <p class="hint">Use it from your own apps: the API can do everything the dashboard can.</p>
            <div class="actions">
              <Button icon="key" href="/dashboard/keys">
                Create an API key
              </Button>
            </div>
          </Step>
        )}
      </ol>
    </Card>
  );
}

function Step({
  number,
  title,
  isDone,
  children,
}: {
  number: number;
  title: string;
  isDone: boolean;
  children: ComponentChildren;
}) {
  return (
    <li class={`step${isDone ? ' done' : ''}`}>
      <span class="step-mark" aria-hidden="true">
        {isDone ? <Icon name="check" size={18} /> : number}
      </span>
      <div class="step-body">
        <h3>
          {title}
          {isDone && <span class="for-readers">, done</span>}
        </h3>
        {!isDone && children}
      </div>
    </li>
  );
}
