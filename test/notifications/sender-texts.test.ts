import { describe, expect, test } from 'bun:test'
import { sealed, senders } from '../../src/notifications/senders/index.ts'
import type { SenderKind } from '../../src/notifications/senders/index.ts'
import { cut, cutTo, escapeHtml, oneLine } from '../../src/notifications/senders/text.ts'
import { fakeService, formOf, httpKinds, message, send, settingsOf } from './fake-service.ts'
import type { HttpKind } from './fake-service.ts'
import { looksOf } from '../../src/web/schema-fields.tsx'

const bodyOf = async (kind: HttpKind, more: Parameters<typeof message>[0]) => {
  const service = fakeService(() => new Response(null, { status: 200 }))
  await send(kind, {
    ...service,
    settings: settingsOf(service.origin)[kind],
    message: message(more),
  })
  return service.seen[0]!.body
}

const hostile = {
  title: 'a\r\nb <!channel> @everyone *x* <b>',
  text: '<!here> <@U1> [x](https://evil.example) `c` _d_ <a href="x">&amp; ||s||',
  todo: '</b></p><script>alert(1)</script>',
}

describe('markup of others stays text:', () => {
  test('in Slack', async () => {
    const { text, blocks } = await bodyOf('slack', hostile)
    expect(text).not.toMatch(/<[!@]|<b>|<script|<a /)
    expect(text).toContain('&lt;!channel&gt;')
    const types = blocks.map((block: { text: { type: string } }) => block.text.type)
    expect(types).toEqual(['plain_text', 'plain_text', 'mrkdwn'])
  })

  test('in Discord', async () => {
    const { allowed_mentions, embeds } = await bodyOf('discord', hostile)
    expect(allowed_mentions).toEqual({ parse: [] })
    expect(embeds[0].title).toContain('\\*x\\* \\<b\\>')
    expect(embeds[0].description).toContain('\\[x\\](https://evil.example) \\`c\\` \\_d\\_')
  })

  test('in Telegram', async () => {
    const { text, parse_mode } = await bodyOf('telegram', hostile)
    expect(parse_mode).toBe('HTML')
    expect(text.match(/<[^>]*>/g)).toEqual([
      '<b>',
      '</b>',
      expect.stringContaining('<a href="https://davit'),
      '</a>',
    ])
  })

  test('in Matrix', async () => {
    const { formatted_body: html } = await bodyOf('matrix', hostile)
    expect(html).not.toMatch(/<script|<a href="x"|<b>/)
  })
})

test('no message is longer than its service accepts', async () => {
  for (const filler of ['y', '&', '*', '💥', 'é']) {
    const long = {
      title: filler.repeat(5000),
      text: filler.repeat(50_000),
      todo: filler.repeat(50_000),
    }
    const bodies = Object.fromEntries(
      await Promise.all(httpKinds.map(async (kind) => [kind, await bodyOf(kind, long)] as const)),
    )
    const { slack, discord, telegram, ntfy, gotify, matrix, pushover } = bodies
    expect(slack.blocks[0].text.text.length).toBeLessThanOrEqual(150)
    expect(slack.blocks[1].text.text.length).toBeLessThanOrEqual(3000)
    expect(slack.text.length).toBeLessThanOrEqual(40_000)
    const [{ title, description }] = discord.embeds
    expect(title.length).toBeLessThanOrEqual(256)
    expect(description.length).toBeLessThanOrEqual(4096)
    expect(title.length + description.length).toBeLessThanOrEqual(6000)
    expect(
      Bun.stripANSI(telegram.text.replace(/<[^>]*>/g, '').replace(/&\w+;/g, 'x')).length,
    ).toBeLessThanOrEqual(4096)
    expect(Buffer.byteLength(ntfy.message)).toBeLessThanOrEqual(4096)
    expect([...pushover.title].length).toBeLessThanOrEqual(250)
    expect([...pushover.message].length).toBeLessThanOrEqual(1024)
    expect(Buffer.byteLength(JSON.stringify(matrix))).toBeLessThan(65_536)
    expect(gotify.message.length).toBeLessThan(10_000)
    for (const body of Object.values(bodies))
      expect(JSON.stringify(body)).not.toMatch(/\\ud[89ab]../)
  }
})

test('a text is cut between characters, and lines are joined', () => {
  expect(cut('abc', 3)).toBe('abc')
  expect(cut('abcd', 3)).toBe('ab…')
  expect(cut('a💥💥', 3)).toBe('a…')
  expect(cutTo('&&&&', 11, (text) => escapeHtml(text).length)).toBe('&&…')
  expect(cutTo('&', 2, (text) => escapeHtml(text).length)).toBe('')
  expect(oneLine('a\r\n b\u2028c\u202ed\u0000')).toBe('a  b c d')
})

describe('a form refuses', () => {
  const token = { token: '123456:secretsecretsecretsecret' }
  const mail = {
    ...{ host: 'smtp.example.com', port: 587, security: 'starttls', trust: 'authorities' },
    ...{ from: 'a@example.com', to: ['b@example.com'] },
  }
  const wrong: [SenderKind, object, string][] = [
    ['email', { ...mail, host: 'http://x' }, 'host'],
    ['email', { ...mail, host: '10.0.0.1' }, 'host'],
    ['email', { ...mail, port: 0 }, 'port'],
    ['email', { ...mail, security: 'ssl' }, 'security'],
    ['email', { ...mail, from: 'Davit <a@example.com>' }, 'from'],
    ['email', { ...mail, to: [] }, 'to'],
    ['email', { ...mail, to: ['a@example.com, b@example.com'] }, 'to'],
    ['webhook', { url: 'ftp://example.com' }, 'url'],
    ['webhook', { url: 'https://user:pw@example.com' }, 'url'],
    ['webhook', { url: 'http://127.0.0.1:2019' }, 'url'],
    ['webhook', { url: 'https://example.com', secret: 'whsec_short' }, 'secret'],
    ['slack', { webhookUrl: 'http://hooks.slack.com/services/x' }, 'webhookUrl'],
    ['discord', { webhookUrl: 'https://[::1]/x' }, 'webhookUrl'],
    ['telegram', { token: '../../getMe', chat: '1' }, 'token'],
    ['telegram', { ...token, chat: 'my chat' }, 'chat'],
    ['ntfy', { url: 'https://ntfy.sh', topic: 'a/b' }, 'topic'],
    ['ntfy', { url: 'https://ntfy.sh', topic: 'a', token: 'x y' }, 'token'],
    ['gotify', { url: 'https://gotify.example.com/?token=x', token: 'x' }, 'url'],
    ['matrix', { url: 'https://example.org', token: 'x', room: 'ops' }, 'room'],
    ['pushover', { token: 'x', userKey: 'u'.repeat(30) }, 'token'],
  ]
  test.each(wrong)('for %s %j', (kind, values, field) => {
    const { error } = formOf(kind).safeParse(values)
    expect(error?.issues.map(({ path }) => path[0])).toEqual([field])
  })

  test('nothing that a service accepts', () => {
    const origin = 'https://push.example.com/sub/'
    for (const [kind, values] of Object.entries(settingsOf(origin)))
      expect(formOf(kind as SenderKind).safeParse(values).error).toBeUndefined()
    expect(formOf('email').safeParse(mail).success).toBe(true)
    expect(formOf('email', ['10.0.0.0/8']).safeParse({ ...mail, host: '10.0.0.1' }).success).toBe(
      true,
    )
    expect(formOf('gotify').parse({ url: origin, token: 'x' })).toMatchObject({
      url: origin.slice(0, -1),
    })
  })

  test('no field that hides what is typed, unless it is sealed', () => {
    const looks = (Object.keys(senders) as SenderKind[]).flatMap((kind) => looksOf(formOf(kind)))
    const hidden = looks.filter(([, { type }]) => type === 'password').map(([name]) => name)
    expect(hidden).not.toBeEmpty()
    expect(sealed as readonly string[]).toEqual(expect.arrayContaining(hidden))
  })
})
