import { createHmac } from 'node:crypto'

// What a git host does after a push: tells the receiver which commit a branch now has, signed.
const { HOOK_URL = '', HOOK_SECRET = '', HOOK_REPOSITORY = '' } = process.env
for (const line of (await Bun.stdin.text()).trim().split('\n')) {
  const [before, after, ref] = line.split(' ')
  const body = JSON.stringify({
    ref,
    before,
    after,
    created: /^0+$/.test(before!),
    deleted: false,
    forced: false,
    repository: { full_name: 'team/app', clone_url: HOOK_REPOSITORY, default_branch: 'main' },
    pusher: { name: 'ada' },
    sender: { login: 'ada' },
    head_commit: { id: after, message: 'A push' },
    commits: [{ id: after, message: 'A push', added: [], modified: [], removed: [] }],
  })
  const answer = await fetch(HOOK_URL, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'X-GitHub-Event': 'push',
      'X-GitHub-Delivery': crypto.randomUUID(),
      'X-Hub-Signature-256': `sha256=${createHmac('sha256', HOOK_SECRET).update(body).digest('hex')}`,
    },
    body,
  })
  console.log(`The receiver answers ${answer.status}`)
}
