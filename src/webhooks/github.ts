import { z } from 'zod'
import { form } from './provider.ts'
import type { Provider } from './provider.ts'
import { pullRequest } from './pull.ts'
import { pushReader } from './push.ts'
import { isSignedInHex } from './signature.ts'

/** The most commits that GitHub lists. */
const maxCommits = 2048

const fields = {
  forced: z.boolean().nullish(),
  repository: z.object({ default_branch: z.string().nullish() }),
  pusher: z.object({ name: z.string().nullish() }).nullish(),
  sender: z.object({ login: z.string().nullish() }).nullish(),
}

export const github: Provider = {
  name: 'github',
  mediaTypes: ['application/json', form],
  eventHeader: 'X-GitHub-Event',
  pushEvents: ['push'],
  checkEvents: ['check_run', 'check_suite', 'status', 'workflow_run'],
  signatureHeaders: ['X-Hub-Signature-256'],
  idHeaders: ['X-GitHub-Delivery'],
  // Gitea and Forgejo also send GitHub's headers, with a valid signature.
  isSignedWith: async (secret, { headers, body }) =>
    ![...headers.keys()].some((name) => /^x-(gitea|forgejo|gogs)-/.test(name)) &&
    isSignedInHex(headers.get('X-Hub-Signature-256'), { key: secret, body, prefix: 'sha256=' }),
  repository: {
    member: 'repository',
    fullName: 'full_name',
    addresses: ['clone_url', 'ssh_url', 'html_url'],
  },
  pulls: { events: ['pull_request'], ...pullRequest },
  ...pushReader(fields, ({ forced, repository, pusher, sender, commits }) => ({
    defaultBranch: repository.default_branch,
    pusher: pusher?.name ?? sender?.login,
    total: forced || commits.length >= maxCommits ? null : commits.length,
  })),
}
