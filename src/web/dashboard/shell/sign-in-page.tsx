import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { formatTime } from '../../shared/time-text.ts';
import { startOidcSignIn } from '../api/oidc.ts';
import { offerPasskeys, passkeyObstacle, signInWithPasskey } from '../api/passkeys.ts';
import { type ApiProblem, problemOf } from '../api/problem.ts';
import { signIn } from '../api/sessions.ts';
import { accountCommand } from '../format/account-command.ts';
import { wasSignedOut } from '../state/session.ts';
import { isEnglish } from '../state/texts.ts';
import { t as shared } from '../texts/shell.ts';
import { rich, t } from '../texts/sign-in.ts';
import { bold } from '../ui/bold.tsx';
import { Button } from '../ui/button.tsx';
import { ProblemNotice } from '../ui/dialog/problem-notice.tsx';
import { TextField } from '../ui/form/field.tsx';
import { useSubmit } from '../ui/form/use-submit.ts';
import { useSignInMethods } from '../ui/hooks/use-sign-in-methods.ts';
import { Notice } from '../ui/notice.tsx';
import { ForgotPasswordPage } from './forgot-password-page.tsx';
import { SignInCard } from './sign-in-card.tsx';

export function SignInPage() {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const [needsCode, setNeedsCode] = useState(false);
  const [isForgotten, setForgotten] = useState(false);
  const [refused, setRefused] = useState<{ email: string; untilMs: number }>();
  const submission = useSubmit(async () => {
    try {
      await signIn({ email: email.trim(), password, ...(needsCode ? { code } : {}) });
    } catch (error) {
      const { code: reason, retryAfterSeconds } = problemOf(error);
      if (reason === 'authentication-second-factor-required') {
        setNeedsCode(true);
        return;
      }
      if (retryAfterSeconds !== undefined) {
        setRefused({ email: email.trim(), untilMs: Date.now() + retryAfterSeconds * 1_000 });
      }
      throw error;
    }
  });
  const passkey = useSubmit(signInWithPasskey);
  const canUsePasskey = !needsCode && passkeyObstacle() === undefined;
  const offered = usePasskeyOffer(canUsePasskey && !isForgotten && !passkey.busy);
  const oidc = useSubmit(startOidcSignIn);
  const methods = useSignInMethods();
  const provider = methods.value?.oidc?.name;
  const secondsLeft = useCountdown(refused?.untilMs);
  // Attempts are counted by address, so another user may sign in.
  const isRefused = refused?.email === email.trim();
  const isWaiting = isRefused && secondsLeft > 0;
  const submit = (event: Event) => {
    event.preventDefault();
    if (isWaiting) return;
    setRefused(undefined);
    passkey.clear();
    offered.clear();
    oidc.clear();
    submission.submit();
  };
  const startPasskey = () => {
    offered.clear();
    passkey.submit();
  };
  const startOver = () => {
    setNeedsCode(false);
    setCode('');
    setPassword('');
    submission.clear();
  };
  if (isForgotten) return <ForgotPasswordPage email={email} onBack={() => setForgotten(false)} />;
  return (
    <SignInCard
      title={t('signIn.title')}
      documentTitle={t('signIn.documentTitle')}
      submission={submission}
      onSubmit={submit}
    >
      {wasSignedOut.value && submission.problem === undefined && <Notice>{t('signIn.signedOut')}</Notice>}
      {needsCode ? (
        <CodeField code={code} onCode={setCode} />
      ) : (
        <>
          <TextField
            label={t('signIn.email')}
            type="email"
            name="email"
            autocomplete="username webauthn"
            value={email}
            onValue={setEmail}
            field="email"
            required
          />
          <TextField
            label={t('signIn.password')}
            type="password"
            name="password"
            autocomplete="current-password"
            value={password}
            onValue={setPassword}
            field="password"
            required
          />
        </>
      )}
      {!isRefused && <ProblemNotice problem={submission.notice} />}
      {isRefused && !isWaiting && !submission.busy && <Notice>{t('signIn.tryNow')}</Notice>}
      {isWaiting && (
        <>
          <Notice tone="bad">{waitingText(submission.problem)}</Notice>
          <p class="countdown" role="timer">
            {rich('signIn.tryIn', { time: formatTime(secondsLeft) }, bold)}
          </p>
        </>
      )}
      <Button
        kind="primary"
        type="submit"
        busy={submission.busy}
        disabled={isWaiting || email.trim() === '' || password === '' || (needsCode && code.trim() === '')}
      >
        {t('signIn.signIn')}
      </Button>
      {canUsePasskey && (
        <Button icon="key" busy={passkey.busy} onClick={startPasskey}>
          {t('signIn.passkey')}
        </Button>
      )}
      {!needsCode && provider !== undefined && (
        <Button busy={oidc.busy} onClick={() => oidc.submit()}>
          {t('signIn.continueWith', { provider })}
        </Button>
      )}
      <ProblemNotice problem={passkey.problem ?? oidc.problem ?? offered.problem} />
      {needsCode ? (
        <>
          <Button kind="quiet" onClick={startOver}>
            {t('signIn.startOver')}
          </Button>
          <p class="hint">
            {t('signIn.lostDevice')} <code dir="ltr">{accountCommand('two-factor EMAIL --undo')}</code>
          </p>
        </>
      ) : (
        <>
          <Button kind="quiet" onClick={() => setForgotten(true)}>
            {t('signIn.forgot')}
          </Button>
          <p class="hint">{t('signIn.firstPassword')}</p>
        </>
      )}
    </SignInCard>
  );
}

/** Offers passkeys in the autofill of the email field while `isOn`. */
function usePasskeyOffer(isOn: boolean): { problem: ApiProblem | undefined; clear: () => void } {
  const [problem, setProblem] = useState<ApiProblem>();
  // Ends with the rendering, before the button asks for a passkey.
  useLayoutEffect(() => {
    if (!isOn) return;
    const ending = new AbortController();
    offerPasskeys(ending.signal).catch((error: unknown) => setProblem(problemOf(error)));
    return () => ending.abort();
  }, [isOn]);
  return { problem, clear: () => setProblem(undefined) };
}

/** The server says for how long in English, and the countdown in the language of the page. */
function waitingText(problem: ApiProblem | undefined): string | undefined {
  if (!isEnglish()) return shared('problem.of.tooMany');
  return problem?.detail ?? problem?.text;
}

function CodeField({ code, onCode }: { code: string; onCode: (code: string) => void }) {
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => element.current?.querySelector('input')?.focus(), []);
  return (
    <div ref={element}>
      <TextField
        label={t('signIn.code')}
        name="code"
        autocomplete="one-time-code"
        hint={t('signIn.codeHint')}
        value={code}
        onValue={onCode}
        spellcheck={false}
        required
      />
    </div>
  );
}

function useCountdown(untilMs: number | undefined): number {
  const [, setTicks] = useState(0);
  useEffect(() => {
    if (untilMs === undefined) return;
    const timer = setInterval(() => {
      setTicks(ticks => ticks + 1);
      if (Date.now() >= untilMs) clearInterval(timer);
    }, 1_000);
    return () => clearInterval(timer);
  }, [untilMs]);
  return untilMs === undefined ? 0 : Math.max(0, Math.ceil((untilMs - Date.now()) / 1_000));
}
