import { z } from 'zod'
import { form } from './provider.ts'
import type { Provider } from './provider.ts'
import { pullRequest } from './pull.ts'
import { pushReader } from './push.ts'
import { isSignedInHex } from './signature.ts'

const user = z.object({ login: z.string().nullish(), username: z.string().nullish() }).nullish()

const fields = {
  total_commits: z.int().nullish(),
  repository: z.object({ default_branch: z.string().nullish() }),
  pusher: user,
  sender: user,
}

/** Includes Forgejo, which sends the same. */
export const gitea: Provider = {
  name: 'gitea',
  mediaTypes: ['application/json', form],
  signsField: true,
  eventHeader: 'X-Gitea-Event',
  pushEvents: ['push'],
  checkEvents: ['status', 'workflow_run'],
  signatureHeaders: ['X-Gitea-Signature'],
  idHeaders: ['X-Gitea-Delivery'],
  isSignedWith: async (secret, { headers, body }) =>
    isSignedInHex(headers.get('X-Gitea-Signature'), { key: secret, body }),
  repository: {
    member: 'repository',
    fullName: 'full_name',
    addresses: ['clone_url', 'ssh_url', 'html_url'],
  },
  pulls: { events: ['pull_request', 'pull_request_sync'], ...pullRequest },
  ...pushReader(fields, (push) => {
    const pusher = push.pusher ?? push.sender
    return {
      defaultBranch: push.repository.default_branch,
      pusher: pusher?.login ?? pusher?.username,
      // Gitea lists only the newest commits, as configured. Before 1.18 it doesn't report how many there
      // were.
      total: push.total_commits,
    }
  }),
}
