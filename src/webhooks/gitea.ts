import { z } from 'zod'
import type { Provider } from './provider.ts'
import { commit, commonFields, isZero, messageOf, pathsOf } from './push.ts'
import { namesIn } from './repository-names.ts'
import { hexSignature, isSigned } from './signature.ts'

const user = z.object({ login: z.string().nullish(), username: z.string().nullish() }).nullish()

const pushPayload = z.object({
  ...commonFields,
  total_commits: z.int().nullish(),
  head_commit: commit.nullish(),
  repository: z.object({ default_branch: z.string().nullish() }),
  pusher: user,
  sender: user,
})

/** Gitea, and Forgejo, which sends the same. */
export const gitea: Provider = {
  name: 'gitea',
  mediaTypes: ['application/json'], // of a form it signs the field, not the bytes that it sends
  eventHeader: 'X-Gitea-Event',
  signatureHeaders: ['X-Gitea-Signature'],
  pushEvents: ['push'],
  members: Object.keys(pushPayload.shape),
  repositoryMember: 'repository',
  deliveryId: (headers) => headers.get('X-Gitea-Delivery'),

  isSignedWith: async (secret, { headers, body }) =>
    isSigned({
      key: secret,
      pieces: [body],
      signatures: hexSignature(headers.get('X-Gitea-Signature')),
    }),

  readNames: (payload) =>
    'repository' in payload
      ? namesIn(payload.repository, {
          fullName: 'full_name',
          addresses: ['clone_url', 'ssh_url', 'html_url'],
        })
      : null,

  readPush(payload) {
    const push = pushPayload.safeParse(payload).data
    if (!push) return null
    const commits = push.commits ?? []
    // It lists the newest few, as many as its settings say; before 1.18 it does not tell how many there were.
    const total = push.total_commits ?? Infinity
    const pusher = push.pusher ?? push.sender
    return {
      ref: push.ref,
      after: push.after,
      defaultBranch: push.repository.default_branch ?? null,
      message: push.head_commit?.message ?? messageOf(commits, push.after),
      pusher: pusher?.login ?? pusher?.username ?? null,
      paths: isZero(push.before ?? '0') ? null : pathsOf(commits, { total }),
    }
  },
}
