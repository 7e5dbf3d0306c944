import { urlField } from '../../web/address-fields.ts'
import { tokenField } from './fields.ts'
import { call } from './request.ts'
import { senderOf } from './sender.ts'
import { bodyOf, cut, headline, looks } from './text.ts'

export const gotify = senderOf({
  label: 'Gotify',
  fields: (config) => ({
    url: urlField('Server', config, { example: 'https://gotify.example.com' }),
    token: tokenField('Application token', 'In Gotify: Apps, Create application.'),
  }),
  async send(deps, { url, token }, message) {
    return call(deps, {
      title: 'Gotify',
      url: `${url}/message`,
      headers: { 'X-Gotify-Key': token },
      body: {
        title: cut(headline(message), 250),
        message: `${bodyOf(message, 8000)}\n\n${message.url}`,
        priority: looks[message.level].isUrgent ? 8 : 4,
        extras: {
          'client::display': { contentType: 'text/plain' },
          'client::notification': { click: { url: message.url } },
        },
      },
      reasonIn: ({ errorDescription }) => errorDescription,
      hints: {
        401: 'Enter the token of an application, not that of a client.',
        403: 'Enter the token of an application, not that of a client.',
      },
    })
  },
})
