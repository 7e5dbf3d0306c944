import { lineField } from '../../web/labelled-fields.ts'
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
    url: urlField('Server', config, { example: 'https://ntfy.sh', initial: 'https://ntfy.sh' }),
    topic: lineField('Topic', {
      max: 64,
      hint: 'On a public server, whoever knows its name can read it.',
      code: true,
    }).regex(/^[\w-]+$/, 'can only have letters, digits, _ and -.'),
    token: tokenField('Access token', 'Leave empty if the topic needs none.').nullish(),
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
