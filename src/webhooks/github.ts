import { z } from 'zod'
import type { Provider } from './provider.ts'
import { commit, commonFields, isZero, messageOf, pathsOf } from './push.ts'
import { namesIn } from './repository-names.ts'
import { hexSignature, isSigned } from './signature.ts'

/** GitHub lists no more commits than this. */
const maxCommits = 2048

const pushPayload = z.object({
  ...commonFields,
  forced: z.boolean().nullish(),
  head_commit: commit.nullish(),
  repository: z.object({ default_branch: z.string().nullish() }),
  pusher: z.object({ name: z.string().nullish() }).nullish(),
  sender: z.object({ login: z.string().nullish() }).nullish(),
})

export const github: Provider = {
  name: 'github',
  mediaTypes: ['application/json', 'application/x-www-form-urlencoded'],
  eventHeader: 'X-GitHub-Event',
  signatureHeaders: ['X-Hub-Signature-256'],
  pushEvents: ['push'],
  members: Object.keys(pushPayload.shape),
  repositoryMember: 'repository',
  deliveryId: (headers) => headers.get('X-GitHub-Delivery'),

  // Gitea and its kin send GitHub's headers beside their own, with a signature that fits.
  isSignedWith: async (secret, { headers, body }) =>
    ![...headers.keys()].some((name) => /^x-(gitea|forgejo|gogs)-/.test(name)) &&
    isSigned({
      key: secret,
      pieces: [body],
      signatures: hexSignature(headers.get('X-Hub-Signature-256'), 'sha256='),
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
    const isListed = !push.forced && !isZero(push.before ?? '0') && commits.length < maxCommits
    return {
      ref: push.ref,
      after: push.after,
      defaultBranch: push.repository.default_branch ?? null,
      message: push.head_commit?.message ?? messageOf(commits, push.after),
      pusher: push.pusher?.name ?? push.sender?.login ?? null,
      paths: isListed ? pathsOf(commits, { total: commits.length }) : null,
    }
  },
}
