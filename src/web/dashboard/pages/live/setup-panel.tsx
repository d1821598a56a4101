import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Account, LiveStream } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
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
import { encoderSettings, ffmpegCommand, srtAddress } from './encoder-settings.ts';

type Protocol = keyof typeof protocolNames;
type Ingest = Account['ingest'];
const protocolNames = { rtmp: 'RTMP', srt: 'SRT', whip: 'WHIP' } as const;

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
        <Card title="Server and stream key">
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
            label={protocol === 'whip' ? 'Bearer token (the stream key)' : 'Stream key'}
            value={streamKey}
            secret
            hint="Anyone with this key can go live. It stays the same until you regenerate it."
          />
          <div class="actions">
            <Button small icon="refresh" onClick={() => setAsking(true)}>
              Regenerate key
            </Button>
          </div>
        </Card>
        {protocol !== 'whip' && (
          <Card title="ffmpeg">
            <p class="quiet">Streams a file in a loop, as if it were live.</p>
            <LoadedContent loaded={account} height={140}>
              {({ ingest: { rtmp, srt } }) => {
                const server = protocol === 'srt' && srt !== undefined ? srt : rtmp;
                return (
                  <CodeSample
                    label="Command"
                    text={ffmpegCommand(server, '<stream key>')}
                    copied={ffmpegCommand(server, streamKey)}
                  />
                );
              }}
            </LoadedContent>
          </Card>
        )}
      </div>
      <ObsCard protocol={protocol} isUltraLowLatency={stream.ultraLowLatency === true} />
      {isAsking && (
        <ConfirmDialog
          title="Regenerate the stream key?"
          action="Regenerate key"
          work={async () => {
            onChange(
              await call('POST /live-streams/{liveStreamId}/stream-key', { params: { liveStreamId } }),
            );
            showToast('Stream key regenerated.');
          }}
          onClose={() => setAsking(false)}
        >
          <p>The old key stops working immediately. Enter the new one in your encoder.</p>
          <p>
            An encoder that is live now stays connected, but can’t reconnect. To disconnect it, end the
            broadcast.
          </p>
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
          label="Protocol"
          value={protocol}
          options={protocolsOf({ srt, whip })}
          onValue={onProtocol}
        />
      )}
      {protocol === 'srt' && srt !== undefined ? (
        <CopyField
          key={streamKey}
          label="Server, with the stream key"
          value={srtAddress(srt, streamKey)}
          secret
          hint="Leave the stream key of your encoder empty. SRT recovers lost packets, so it suits mobile and long-distance connections. If your operator set a passphrase, add &passphrase= and the passphrase."
        />
      ) : protocol === 'whip' && whip !== undefined ? (
        <CopyField
          label="Server"
          value={whip}
          hint="WHIP is WebRTC for publishing. Your encoder sends the stream key as bearer token."
        />
      ) : (
        <>
          <CopyField label="Server" value={rtmp} />
          {rtmps !== undefined && (
            <CopyField
              label="Server (encrypted)"
              value={rtmps}
              hint="RTMPS encrypts the stream key and the stream."
            />
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
        <Notice title="Choose WHIP for ultra low latency.">
          It needs Opus and no B-frames, which these settings don’t have. Without them, viewers get HLS.
        </Notice>
      )}
      <ol class="steps">
        <li>
          Open <strong>Settings</strong>, then <strong>Stream</strong>, and choose the service{' '}
          <strong>{protocol === 'whip' ? 'WHIP.' : 'Custom…'}</strong>
        </li>
        <li>{obsCopyStep[protocol]}</li>
        <li>
          Under <strong>Output</strong>, choose the output mode <strong>Advanced</strong> and apply the
          settings below.
        </li>
        <li>
          Press <strong>Start Streaming</strong>. This page goes live automatically.
        </li>
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

const obsCopyStep: Readonly<Record<Protocol, ComponentChildren>> = {
  rtmp: (
    <>
      Copy the <strong>server</strong> and the <strong>stream key</strong> from here.
    </>
  ),
  srt: (
    <>
      Copy the <strong>server</strong> from here, and leave the stream key empty.
    </>
  ),
  whip: (
    <>
      Copy the <strong>server</strong> and the <strong>bearer token</strong> from here.
    </>
  ),
};
