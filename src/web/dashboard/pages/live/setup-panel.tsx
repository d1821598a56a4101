import { useState } from 'preact/hooks';
import type { Account, LiveStream } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { rich, t } from '../../texts/live.ts';
import { bold } from '../../ui/bold.tsx';
import { Button } from '../../ui/button.tsx';
import { CodeSample } from '../../ui/code-sample.tsx';
import { CopyField } from '../../ui/copy.tsx';
import { ConfirmDialog } from '../../ui/dialog/confirm-dialog.tsx';
import { SegmentedControl } from '../../ui/form/segmented-control.tsx';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { Notice } from '../../ui/notice.tsx';
import { Card } from '../../ui/page.tsx';
import { LoadedContent } from '../../ui/states.tsx';
import { showToast } from '../../ui/toast.tsx';
import { encoderSettings, ffmpegCommand, ffmpegFileInput, srtAddress } from './encoder-settings.ts';

type Protocol = keyof typeof protocolNames;
type Ingest = Account['ingest'];
const protocolNames = { rtmp: 'RTMP', srt: 'SRT', whip: 'WHIP' } as const;

const code = (text: string) => (
  <code key={text} dir="ltr">
    {text}
  </code>
);

/** Lists the protocols that this server accepts. */
function protocolsOf(ingest: Pick<Ingest, 'srt' | 'whip'>) {
  const names = Object.entries(protocolNames) as [Protocol, string][];
  return names.filter(([name]) => name === 'rtmp' || ingest[name] !== undefined);
}

export function SetupPanel({
  stream,
  onChange,
}: {
  stream: LiveStream;
  onChange: (stream: LiveStream) => void;
}) {
  const { liveStreamId, streamKey = '' } = stream;
  const [isAsking, setAsking] = useState(false);
  const [protocol, setProtocol] = useState<Protocol>('rtmp');
  const account = useLoad('account', signal => call('GET /account', { signal }));
  return (
    <div class="columns">
      <div class="stack">
        <Card title={t('setup.title')}>
          <LoadedContent loaded={account} height={66}>
            {({ ingest }) => (
              <ServerFields
                ingest={ingest}
                protocol={protocol}
                streamKey={streamKey}
                onProtocol={setProtocol}
              />
            )}
          </LoadedContent>
          <CopyField
            key={streamKey}
            label={protocol === 'whip' ? t('setup.bearerToken') : t('streams.streamKey')}
            value={streamKey}
            secret
            hint={t('setup.keyHint')}
          />
          <div class="actions">
            <Button small icon="refresh" onClick={() => setAsking(true)}>
              {t('setup.regenerate')}
            </Button>
          </div>
        </Card>
        {protocol !== 'whip' && (
          <Card title="ffmpeg">
            <p class="quiet">{t('setup.ffmpegText')}</p>
            <LoadedContent loaded={account} height={140}>
              {({ ingest: { rtmp, srt } }) => {
                const server = protocol === 'srt' && srt !== undefined ? srt : rtmp;
                return (
                  <>
                    <CodeSample
                      label={t('setup.command')}
                      text={ffmpegCommand(server, `<${t('setup.keyPlaceholder')}>`)}
                      copied={ffmpegCommand(server, streamKey)}
                    />
                    <p class="hint">{rich('setup.ffmpegFile', { input: ffmpegFileInput }, { c: code })}</p>
                  </>
                );
              }}
            </LoadedContent>
          </Card>
        )}
      </div>
      <ObsCard protocol={protocol} isUltraLowLatency={stream.ultraLowLatency === true} />
      {isAsking && (
        <ConfirmDialog
          title={t('setup.regenerateTitle')}
          action={t('setup.regenerate')}
          work={async () => {
            onChange(
              await call('POST /live-streams/{liveStreamId}/stream-key', { params: { liveStreamId } }),
            );
            showToast(t('setup.regenerated'));
          }}
          onClose={() => setAsking(false)}
        >
          <p>{t('setup.regenerateText')}</p>
          <p>{t('setup.regenerateLive')}</p>
        </ConfirmDialog>
      )}
    </div>
  );
}

function ServerFields({
  ingest: { rtmp, rtmps, srt, whip },
  protocol,
  streamKey,
  onProtocol,
}: {
  ingest: Ingest;
  protocol: Protocol;
  streamKey: string;
  onProtocol: (protocol: Protocol) => void;
}) {
  return (
    <>
      {(srt !== undefined || whip !== undefined) && (
        <SegmentedControl
          label={t('setup.protocol')}
          value={protocol}
          options={protocolsOf({ srt, whip })}
          onValue={onProtocol}
        />
      )}
      {protocol === 'srt' && srt !== undefined ? (
        <CopyField
          key={streamKey}
          label={t('setup.serverWithKey')}
          value={srtAddress(srt, streamKey)}
          secret
          hint={t('setup.srtHint')}
        />
      ) : protocol === 'whip' && whip !== undefined ? (
        <CopyField label={t('setup.server')} value={whip} hint={t('setup.whipHint')} />
      ) : (
        <>
          <CopyField label={t('setup.server')} value={rtmp} />
          {rtmps !== undefined && (
            <CopyField label={t('setup.serverEncrypted')} value={rtmps} hint={t('setup.rtmpsHint')} />
          )}
        </>
      )}
    </>
  );
}

function ObsCard({ protocol, isUltraLowLatency }: { protocol: Protocol; isUltraLowLatency: boolean }) {
  return (
    <Card title="OBS Studio">
      {isUltraLowLatency && protocol !== 'whip' && (
        <Notice title={t('setup.chooseWhip')}>{t('setup.chooseWhipText')}</Notice>
      )}
      <ol class="steps">
        <li>
          {rich('setup.obsService', { service: protocol === 'whip' ? 'WHIP' : t('setup.obsCustom') }, bold)}
        </li>
        <li>{rich(`setup.obsCopy.${protocol}`, {}, bold)}</li>
        <li>{rich('setup.obsOutput', {}, bold)}</li>
        <li>{rich('setup.obsStart', {}, bold)}</li>
      </ol>
      <dl class="encoder-settings">
        {encoderSettings(protocol === 'whip').map(([setting, value, why]) => (
          <div key={setting}>
            <dt>{setting}</dt>
            <dd>
              <strong>{value}</strong>
              <span class="hint">{why}</span>
            </dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}
