import { line } from '../../web/fields.ts'
import { field } from '../../web/schema-fields.tsx'
import { urlField } from '../../web/address-fields.ts'
import { tokenField } from './fields.ts'
import { call } from './request.ts'
import { senderOf } from './sender.ts'
import { bodyOf, bytesOf, cut, looks, oneLine } from './text.ts'

/** In bytes: a longer message becomes an attachment. */
const maxBytes = 4000

export const ntfy = senderOf({
  label: 'ntfy',
  fields: (config) => ({
    url: field(urlField(config, { example: 'https://ntfy.sh' }), {
      label: 'Server',
      type: 'url',
      initial: 'https://ntfy.sh',
    }),
    topic: field(
      line('a topic', { max: 64 }).regex(/^[\w-]+$/, 'can only have letters, digits, _ and -.'),
      {
        label: 'Topic',
        hint: 'On a public server, whoever knows its name can read it.',
        code: true,
      },
    ),
    token: field(tokenField('an access token').nullish(), {
      label: 'Access token',
      type: 'password',
      hint: 'Leave empty if the topic needs none.',
      code: true,
    }),
  }),
  async send(deps, { url, topic, token }, message) {
    const { tag, isUrgent } = looks[message.level]
    return call(deps, {
      title: 'ntfy',
      url: `${url}/`,
      headers: token ? { Authorization: `Bearer ${token}` } : {},
      body: {
        topic,
        title: cut(oneLine(message.title), 200),
        message: bodyOf(message, maxBytes, bytesOf),
        priority: isUrgent ? 4 : 3,
        tags: [tag],
        click: message.url,
      },
      reasonIn: ({ error }) => error,
      hints: {
        401: 'Check the access token.',
        403: 'The topic is protected: enter an access token that may publish to it.',
      },
    })
  },
})
