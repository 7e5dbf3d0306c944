import { lineField } from '../../web/labelled-fields.ts'
import { urlField } from '../../web/address-fields.ts'
import { tokenField } from './fields.ts'
import { call } from './request.ts'
import { senderOf } from './sender.ts'
import type { SendDeps } from './sender.ts'
import { bodyOf, cut, escapeHtml, headline, paragraphs } from './text.ts'

type RoomAccess = { url: string; token: string; room: string }

export const matrix = senderOf({
  label: 'Matrix',
  fields: (config) => ({
    url: urlField('Homeserver', config, { example: 'https://matrix.example.org' }),
    token: tokenField('Access token', 'Of an account for Davit alone.'),
    room: lineField('Room', {
      max: 255,
      hint: 'Its id or address. The account must have joined it, and it can’t be encrypted.',
      code: true,
    }).regex(
      /^[!#][^\s]+$/,
      'must be the id of a room, such as !abc:example.org, or its address #ops:example.org.',
    ),
  }),
  async send(deps, access, message) {
    const room = await roomId(deps, access)
    const title = cut(headline(message), 250)
    const html = paragraphs(message)
      .map((part) => `<p>${escapeHtml(cut(part, 4000)).replaceAll('\n', '<br>')}</p>`)
      .join('')
    // the id of the message as transaction: a repeated request isn't a second message
    const path = `rooms/${encodeURIComponent(room)}/send/m.room.message/${encodeURIComponent(message.id)}`
    return ask(deps, access, {
      path,
      method: 'PUT',
      body: {
        msgtype: 'm.text',
        body: `${title}\n\n${bodyOf(message, 8000)}\n\n${message.url}`,
        format: 'org.matrix.custom.html',
        formatted_body:
          `<strong>${escapeHtml(title)}</strong>${html}` +
          `<p><a href="${escapeHtml(message.url)}">Open in Davit</a></p>`,
      },
    })
  },
})

async function roomId(deps: SendDeps, access: RoomAccess) {
  if (access.room.startsWith('!')) return access.room
  const path = `directory/room/${encodeURIComponent(access.room)}`
  const { json } = await ask(deps, access, { path, method: 'GET' })
  return String(json['room_id'])
}

const ask = (
  deps: SendDeps,
  { url, token }: RoomAccess,
  { path, ...request }: { path: string; method: 'GET' | 'PUT'; body?: unknown },
) =>
  call(deps, {
    title: 'Matrix',
    url: `${url}/_matrix/client/v3/${path}`,
    headers: { Authorization: `Bearer ${token}` },
    ...request,
    reasonIn: ({ error, errcode }) => error ?? errcode,
    retryAfterIn: ({ retry_after_ms: ms }) => (typeof ms === 'number' ? ms / 1000 : undefined),
    hints: {
      401: 'The access token is wrong or has expired. Log in again, and enter the new one.',
      403: 'Invite the account to the room, and let it join.',
      404: 'Check the homeserver and the room.',
    },
  })
