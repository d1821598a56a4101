import { useState } from 'preact/hooks';
import { withBasePath } from '../../../shared/base-path.ts';
import type { ServerChecks } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { type ApiProblem, problemOf } from '../../api/problem.ts';
import { rich, t } from '../../texts/server.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Card } from '../../ui/page.tsx';
import { LoadError } from '../../ui/states.tsx';
import { storeCheckSummary } from './check-summary.ts';

type Finding = ServerChecks['findings'][number];

const tones: Readonly<Record<Finding['state'], Tone>> = {
  ok: 'good',
  warning: 'warning',
  failed: 'bad',
  skipped: 'neutral',
};

const order: readonly Finding['state'][] = ['failed', 'warning', 'skipped', 'ok'];

/** Checks of the server, which the operator runs. */
export function ChecksCard() {
  const [findings, setFindings] = useState<readonly Finding[]>();
  const [problem, setProblem] = useState<ApiProblem>();
  const [isBusy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      const checks = await call('GET /server/checks');
      storeCheckSummary(checks);
      setFindings(checks.findings);
    } catch (error) {
      setProblem(problemOf(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Card
      title={t('checks.title')}
      actions={
        <Button small busy={isBusy} onClick={() => void run()}>
          {t(findings === undefined ? 'checks.run' : 'checks.runAgain')}
        </Button>
      }
    >
      <div class="checks" role="status" aria-busy={isBusy}>
        {isBusy && <p class="quiet">{t('checks.running')}</p>}
        {!isBusy && findings === undefined && problem === undefined && (
          <p class="quiet">{t('checks.text')}</p>
        )}
        {!isBusy && problem !== undefined && <LoadError problem={problem} retry={() => void run()} />}
        {!isBusy && findings !== undefined && problem === undefined && <FindingList findings={findings} />}
      </div>
    </Card>
  );
}

function FindingList({ findings }: { findings: readonly Finding[] }) {
  const sorted = findings.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
  const passed = sorted.filter(({ state }) => state === 'ok');
  return (
    <>
      <ul class="findings">
        {sorted
          .filter(({ state }) => state !== 'ok')
          .map(({ title, state, text, why, mend }) => (
            <li key={`${title} ${text}`}>
              <p class="finding-title">
                <strong lang="en">{title}</strong>
                <Badge tone={tones[state]}>{t(`checks.state.${state}`)}</Badge>
              </p>
              <p>
                <bdi lang="en">{text}</bdi>
              </p>
              {why !== undefined && (
                <p class="quiet">
                  <bdi lang="en">{why}</bdi>
                </p>
              )}
              {mend !== undefined && (
                <p class="finding-mend">
                  <bdi lang="en">{mend}</bdi>
                </p>
              )}
            </li>
          ))}
      </ul>
      <ul class="findings passed">
        {passed.map(({ title, text }) => (
          <li key={`${title} ${text}`}>
            <Icon name="check" size={18} />
            <bdi lang="en">
              <strong>{title}</strong> <span class="quiet">{text}</span>
            </bdi>
            <span class="for-readers">{t('checks.state.ok')}</span>
          </li>
        ))}
      </ul>
      <p class="quiet">
        {rich(
          'checks.firewalls',
          { command: `millrace doctor --from ${location.origin}${withBasePath('')}` },
          { code: text => <code dir="ltr">{text}</code> },
        )}
      </p>
    </>
  );
}
