import { z } from 'zod'
import { Button, PostForm } from '../web/form.tsx'
import { componentOf, shown, time } from '../web/operation.ts'
import { At, In } from '../web/times.tsx'
import { environmentPath } from './paths.ts'
import type { Preview } from './preview-store.ts'

export const preview = componentOf('Preview', () => ({
  /** Of the pull request. */
  number: z.int(),
  title: z.string(),
  url: z.url(),
  /** The newest one that was pushed. */
  commit: z.string(),
  /** True when it is from another repository, so that each commit is deployed only once it was approved. */
  fork: z.boolean(),
  approvedCommit: z.string().nullable(),
  /** When it is deleted, unless it is pushed to before. */
  expiresAt: time,
}))

export const previewJson = ({ headCommit: commit, isFork: fork, ...row }: Preview) =>
  shown(preview, { ...row, commit, fork })

export const waitsForApproval = ({ isFork, headCommit, approvedCommit }: Preview) =>
  isFork && approvedCommit !== headCommit

/** Nothing of it may be deployed yet. */
export const isUnapproved = ({ isFork, approvedCommit }: Preview) =>
  isFork && approvedCommit === null

export const approvePath = ({ environmentId: id, projectId }: Preview) =>
  `${environmentPath({ id, projectId })}/approve`

export const PullRequestLink = ({ number, title, url }: Preview) => (
  <a href={url} rel="noreferrer">
    #{number} <bdi>{title}</bdi>
  </a>
)

/** Says which pull request it is of and when it is deleted, and asks for what must be approved. */
export const PreviewNote = ({ preview, isDeleting }: { preview: Preview; isDeleting: boolean }) => (
  <div class={waitsForApproval(preview) ? 'note pending planned' : 'note planned'}>
    <p>
      Preview of pull request <PullRequestLink {...preview} />. Deleted with it, or on{' '}
      <At at={preview.expiresAt} />, <In at={preview.expiresAt} />, if nothing is pushed before.
      {waitsForApproval(preview) && (
        <>
          {' '}
          <strong>
            Commit <code>{preview.headCommit.slice(0, 12)}</code> of a fork waits for your approval.
          </strong>{' '}
          Read it first, with its Dockerfile: it runs on your server.
        </>
      )}
    </p>
    {waitsForApproval(preview) && !isDeleting && (
      <PostForm action={approvePath(preview)} class="actions">
        <input type="hidden" name="commit" value={preview.headCommit} />
        <Button small>Approve and deploy</Button>
      </PostForm>
    )}
  </div>
)
