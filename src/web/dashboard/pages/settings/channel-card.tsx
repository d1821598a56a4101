import { useState } from 'preact/hooks';
import type { Channel } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { can, environment, project } from '../../state/session.ts';
import { CopyField } from '../../ui/copy.tsx';
import { CheckField, Field, TextArea, TextField } from '../../ui/form/field.tsx';
import { Form } from '../../ui/form/form.tsx';
import { FormActions } from '../../ui/form/form-actions.tsx';
import { FieldValues } from '../../ui/form/form-context.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { useChannel } from '../../ui/hooks/use-channel.ts';
import { LearnMore, Section } from '../../ui/page.tsx';
import { LoadedContent } from '../../ui/states.tsx';
import { showToast } from '../../ui/toast.tsx';
import { ChannelLogo } from './channel-logo.tsx';

const standardAccent = '#0a7a66';

export function ChannelCard() {
  const loaded = useChannel();
  return (
    <Section
      isSplit
      title="Channel"
      id="channel"
      lead={
        <>
          A public page with your live streams and videos. It shows only what you add to it.{' '}
          <LearnMore docs="playing#the-channel" />
        </>
      }
    >
      {environment.value === 'sandbox' ? (
        <p>Only production has a channel. Switch to production to set it up.</p>
      ) : (
        <LoadedContent loaded={loaded} height={420}>
          {channel => (
            <>
              {channel.url !== undefined && <ChannelLink url={channel.url} />}
              {can('admin') ? (
                <>
                  <ChannelForm channel={channel} onChange={loaded.set} />
                  <ChannelLogo channel={channel} onChange={loaded.set} onRemoved={loaded.reload} />
                </>
              ) : (
                channel.url === undefined && <p>The channel is off.</p>
              )}
            </>
          )}
        </LoadedContent>
      )}
    </Section>
  );
}

function ChannelLink({ url }: { url: string }) {
  return (
    <>
      <CopyField label="Channel link" value={url} />
      <div class="actions">
        <a class="button" href={url} target="_blank" rel="noreferrer">
          Open channel
        </a>
      </div>
    </>
  );
}

function ChannelForm({ channel, onChange }: { channel: Channel; onChange: (channel: Channel) => void }) {
  const before = valuesOf(channel);
  const [values, setValues] = useState(before);
  const isReady = JSON.stringify(values) !== JSON.stringify(before);
  const submission = useSubmit(async () => {
    const { enabled, name, slug, description, accentColor } = values;
    const changed = await call('PATCH /account/channel', {
      body: {
        enabled,
        name,
        description,
        slug: slug === '' ? null : slug,
        accentColor: accentColor === standardAccent ? null : accentColor,
      },
    });
    onChange(changed);
    setValues(valuesOf(changed));
    showToast(changed.enabled === channel.enabled ? 'Channel saved.' : toggled(changed.enabled));
  });
  return (
    <Form submission={submission} disabled={!isReady}>
      <FieldValues values={values} onValues={setValues}>
        <CheckField
          field="enabled"
          label="Show the channel to everybody"
          hint="Videos and live streams appear in it when their visibility is “Public: in the channel”."
        />
        <TextField field="name" label="Name" maxLength={100} />
        <TextField
          field="slug"
          label="Address"
          maxLength={64}
          spellcheck={false}
          placeholder="pier-tv"
          hint={`The channel is at /channel/${values.slug || '…'}. Lower case letters, digits and hyphens.`}
        />
        <TextArea field="description" label="Description" rows={3} maxLength={2000} />
        <Field
          label="Accent color"
          field="accentColor"
          hint="For links and buttons. It’s adjusted where it would be hard to read."
        >
          {attributes => (
            <input
              {...attributes}
              type="color"
              class="accent-input"
              value={values.accentColor}
              onInput={event => setValues({ ...values, accentColor: event.currentTarget.value })}
            />
          )}
        </Field>
      </FieldValues>
      <FormActions action="Save channel" disabled={!isReady} />
    </Form>
  );
}

function valuesOf({ enabled, name, slug, description, accentColor }: Channel) {
  const projectName = project.value?.name ?? '';
  const isNew = name === '' && slug === undefined;
  return {
    enabled,
    name: isNew ? projectName : name,
    slug: isNew ? slugOf(projectName) : (slug ?? ''),
    description,
    accentColor: accentColor ?? standardAccent,
  };
}

/** Suggests an address. */
function slugOf(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 64)
    .replace(/^-+|-+$/g, '');
}

function toggled(isOn: boolean): string {
  return isOn ? 'The channel is on.' : 'The channel is off.';
}
