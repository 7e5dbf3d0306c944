import { z } from 'zod'
import { sameSecret } from '../platform/secrets.ts'
import type { Provider, Received } from './provider.ts'
import { mergeRequest } from './pull.ts'
import { pushReader, tagOf } from './push.ts'
import { isSigned } from './signature.ts'

/** The prefix of a signing token (Standard Webhooks); the rest is the key in base64. */
const signingToken = 'whsec_'

/** In seconds: the difference allowed between the sender's clock and ours. */
const tolerance = 300

const fields = {
  object_kind: z.enum(['push', 'tag_push']),
  total_commits_count: z.int().nullish(),
  project: z.object({ default_branch: z.string().nullish() }),
  user_username: z.string().nullish(),
  user_name: z.string().nullish(),
  push_options: z
    .object({ ci: z.object({ skip: z.unknown() }).nullish() })
    .nullish()
    .catch(null),
}

export const gitlab: Provider = {
  name: 'gitlab',
  mediaTypes: ['application/json'],
  eventHeader: 'X-Gitlab-Event',
  pushEvents: ['Push Hook', 'Tag Push Hook'],
  isPushOf: (event, push) => (event === 'Tag Push Hook') === (tagOf(push) !== null),
  checkEvents: ['Pipeline Hook', 'Job Hook'],
  signatureHeaders: ['X-Gitlab-Token', 'webhook-signature'],
  idHeaders: ['Idempotency-Key', 'webhook-id', 'X-Gitlab-Event-UUID'],
  isSignedWith: async (secret, received) =>
    secret.startsWith(signingToken)
      ? isSignedByToken(secret.slice(signingToken.length), received)
      : sameSecret(received.headers.get('X-Gitlab-Token') ?? '', secret),
  repository: {
    member: 'project',
    fullName: 'path_with_namespace',
    addresses: ['git_http_url', 'git_ssh_url', 'web_url'],
  },
  pulls: { events: ['Merge Request Hook'], ...mergeRequest },
  ...pushReader(fields, (push) => {
    if ((push.object_kind === 'tag_push') !== (tagOf(push) !== null)) return null
    return {
      defaultBranch: push.project.default_branch,
      pusher: push.user_username ?? push.user_name,
      total: push.total_commits_count, // GitLab lists only the newest 20
      skipped: /^true$/i.test(String(push.push_options?.ci?.skip)),
    }
  }),
}

/** From GitLab 19 on, which signs the delivery's id, the time and the body. */
function isSignedByToken(key: string, { headers, body, now }: Received) {
  const id = headers.get('webhook-id') ?? ''
  const timestamp = headers.get('webhook-timestamp') ?? ''
  if (id === '' || !/^\d{1,12}$/.test(timestamp)) return false
  if (Math.abs(now / 1000 - Number(timestamp)) > tolerance) return false
  // otherwise an intercepted delivery could be replayed under another id
  if ((headers.get('Idempotency-Key') ?? id) !== id) return false
  return isSigned({
    key: Buffer.from(key, 'base64'),
    pieces: [Buffer.from(`${id}.${timestamp}.`), body],
    signatures: (headers.get('webhook-signature') ?? '')
      .split(' ')
      .filter((entry) => /^v1,[A-Za-z0-9+/]{43}=$/.test(entry))
      .map((entry) => Buffer.from(entry.slice('v1,'.length), 'base64')),
  })
}
