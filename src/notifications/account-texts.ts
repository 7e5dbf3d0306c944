import type { News } from './texts.ts'

export const passwordReset = () => ({
  title: 'Set a new password for Davit',
  text: 'Someone asked for a new password for your account. The link works once, for an hour.',
  todo: 'If that wasn’t you, ignore this mail: your password stays as it is.',
  button: 'Set a new password',
})

export const invitation = ({ expiresAt }: { expiresAt: Date }) => ({
  title: 'You are invited to Davit',
  text: `With this link you can register, once, until ${expiresAt.toISOString().slice(0, 10)}.`,
  todo: null,
  button: 'Register',
})

type Mailed = { to: string; isInvitation: boolean }

export const accountMailFailed = ({
  to,
  isInvitation,
  reason,
}: Mailed & { reason: string }): News => ({
  ...{ kind: 'account_mail_failed', level: 'failure' },
  title: `The ${isInvitation ? 'invitation' : 'password reset'} for ${to} couldn’t be mailed`,
  text: reason,
  todo: isInvitation
    ? 'Check the address and the e-mail channel, then create another invitation.'
    : 'Check the e-mail channel with “Send test”. Until it works, set passwords on the server with “davit user reset-password”.',
})

/** Of a password reset: an invitation is mailed once. */
export const accountMailWorks = ({ to }: { to: string }): News => ({
  ...{ kind: 'account_mail_failed', level: 'resolved', todo: null },
  title: `A password reset for ${to} was mailed`,
  text: 'The mail server accepted it.',
})
