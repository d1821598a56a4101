import type { ComponentChildren } from 'preact';
import { can } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Card } from '../../ui/page.tsx';
import type { CompletedSteps } from './completed-steps.ts';

export function FirstSteps({ done, onHide }: { done: CompletedSteps; onHide: () => void }) {
  const steps = [done.live, done.video, ...(can('admin') ? [done.key] : [])];
  const count = steps.filter(Boolean).length;
  const current = steps.indexOf(false) + 1;
  return (
    <Card
      title="Get started"
      actions={
        <>
          <span class="quiet number">
            {count} of {steps.length} done
          </span>
          <Button small kind="quiet" onClick={onHide}>
            Hide
          </Button>
        </>
      }
    >
      <ol class="first-steps">
        <Step number={1} current={current} title="Go live" isDone={done.live}>
          <p class="hint">Use the camera of this browser, your phone, or OBS: choose below.</p>
        </Step>
        <Step number={2} current={current} title="Upload a video" isDone={done.video}>
          <p class="hint">Any video file works. We encode it for every screen.</p>
          <Button small icon="upload" href="/dashboard/videos">
            Upload a video
          </Button>
        </Step>
        {can('admin') && (
          <Step number={3} current={current} title="Create an API key" isDone={done.key}>
            <p class="hint">Your own apps can do everything the dashboard can.</p>
            <Button small icon="key" href="/dashboard/keys">
              Create an API key
            </Button>
          </Step>
        )}
      </ol>
    </Card>
  );
}

function Step({
  number,
  current,
  title,
  isDone,
  children,
}: {
  number: number;
  current: number;
  title: string;
  isDone: boolean;
  children: ComponentChildren;
}) {
  return (
    <li
      class={`step${isDone ? ' done' : number === current ? ' current' : ''}`}
      aria-current={number === current ? 'step' : undefined}
    >
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
