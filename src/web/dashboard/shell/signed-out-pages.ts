export { InvitationPage } from './invitation-page.tsx';
export { OidcReturnPage } from './oidc-return-page.tsx';
export { PasswordResetPage } from './password-reset-page.tsx';
export { SignInPage } from './sign-in-page.tsx';
