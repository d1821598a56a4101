import { useEffect, useState } from 'preact/hooks';
import { signIn } from '../api/sessions.ts';
import { signedOutBecause } from '../state/session.ts';
import { Button } from '../ui/button.tsx';
import { ProblemNotice } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { Icon } from '../ui/icon.tsx';
import { Notice } from '../ui/notice.tsx';
import { useSubmit } from '../ui/use-submit.ts';

/** Asks who wants in. Shown at any address of the dashboard, which is gone on with afterwards. */
export function SignInPage() {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const submission = useSubmit(() => signIn(email.trim(), password));
  useEffect(() => {
    document.title = 'Sign in · Millrace';
  }, []);
  return (
    <main class="sign-in">
      <form class="sign-in-card" noValidate onSubmit={submission.submit}>
        <span class="brand-mark large" aria-hidden="true">
          <Icon name="play" size={26} />
        </span>
        <h1>Sign in to Millrace</h1>
        {signedOutBecause.value !== undefined && submission.problem === undefined && (
          <Notice>{signedOutBecause.value}</Notice>
        )}
        <TextField
          label="Email"
          type="email"
          name="email"
          autocomplete="username"
          value={email}
          onValue={setEmail}
          error={submission.errorOf('email')}
          required
        />
        <TextField
          label="Password"
          type="password"
          name="password"
          autocomplete="current-password"
          value={password}
          onValue={setPassword}
          error={submission.errorOf('password')}
          required
        />
        <ProblemNotice problem={submission.problem} />
        <Button
          kind="primary"
          type="submit"
          busy={submission.busy}
          disabled={email.trim() === '' || password === ''}
        >
          Sign in
        </Button>
        <p class="hint">
          The first start of the server printed an address and a password. A lost password is set anew on the
          server: <code>npm run account</code>.
        </p>
      </form>
    </main>
  );
}
