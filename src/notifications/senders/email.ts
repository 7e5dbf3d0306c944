import { z } from 'zod'
import type { Config } from '../../config.ts'
import { emailAddress, lines } from '../../web/fields.ts'
import { choiceField, flagField, lineField, portField } from '../../web/labelled-fields.ts'
import { field } from '../../web/schema-fields.tsx'
import { hostField } from '../../web/address-fields.ts'
import type { Mail } from './smtp.ts'
import { senderOf } from './sender.ts'
import type { Message } from './sender.ts'
import { cut, escapeHtml, headline, oneLine, paragraphs } from './text.ts'

export type MailSettings = z.output<z.ZodObject<ReturnType<typeof fields>>>

const fields = (config: Pick<Config, 'allowHosts'>) => ({
  host: hostField('SMTP server', config, { placeholder: 'smtp.example.com', isNarrow: true }),
  port: portField('587'),
  security: choiceField(
    'Encryption',
    {
      starttls: 'STARTTLS (usual on port 587)',
      tls: 'TLS (usual on port 465)',
      none: 'none: only for hosts in DAVIT_ALLOW_HOSTS',
    },
    { initial: 'starttls', isNarrow: true },
  ),
  trust: choiceField(
    'Certificate',
    { authorities: 'must be trusted', any: 'accept any, even of an impostor' },
    { initial: 'authorities', isNarrow: true },
  ),
  username: lineField('User', {
    max: 320,
    hint: 'Leave empty if the server needs no login.',
    code: true,
    isNarrow: true,
  }).nullish(),
  password: lineField('Password', { max: 1000, type: 'password', isNarrow: true }).nullish(),
  from: field(emailAddress(), {
    label: 'From',
    placeholder: 'davit@example.com',
    hint: 'The server must allow you to send from this address.',
  }),
  to: field(lines(emailAddress(), { max: 20 }).pipe(z.array(z.string()).min(1, 'is missing.')), {
    label: 'To',
    placeholder: 'ada@example.com',
    hint: 'One address per line.',
    isLong: true,
  }),
  accountMail: flagField('Also send invitations and password resets', {
    hint: 'To people who are invited, or have forgotten their password. For admins only.',
  }).transform(Boolean),
})

export const email = senderOf({
  label: 'E-mail',
  fields,
  async send(deps, settings, message) {
    const { sendMail } = await import('./smtp.ts') // nodemailer, for those who send mail
    return sendMail(deps, settings, mailOf(message, settings))
  },
})

/** The same message for each recipient, who don't see each other's addresses. */
function mailOf(message: Message, { from, to }: Pick<MailSettings, 'from' | 'to'>): Mail {
  const parts = paragraphs(message).map((part) => cut(part, 20_000))
  const { origin, href } = new URL(message.url)
  const sent = `Davit at ${origin} sent this.`
  return {
    to: message.only ?? to,
    messageId: `<${message.id}@${from.split('@').at(-1)}>`,
    date: message.at,
    subject: cut(message.kind === 'account' ? oneLine(message.title) : headline(message), 200),
    text: [oneLine(message.title), ...parts, href, sent].join('\n\n'),
    html: page([
      `<h2>${escapeHtml(oneLine(message.title))}</h2>`,
      ...parts.map((part) => `<p>${escapeHtml(part).replaceAll('\n', '<br>')}</p>`),
      `<p><a href="${escapeHtml(href)}">${escapeHtml(message.button ?? 'Open in Davit')}</a></p>`,
      `<p><small>${escapeHtml(sent)}</small></p>`,
    ]),
  }
}

const page = (blocks: string[]) =>
  `<!doctype html><html><head><meta charset="utf-8"></head><body>${blocks.join('\n')}</body></html>`
