import { commitFiles, makeRepository } from '../support/git-server.ts'

export type Commit = { greeting: string; hash: string }

const dockerfile = `FROM busybox
COPY index.html /www/
RUN echo "The page has $(wc -c < /www/index.html) bytes."
EXPOSE 8080
CMD ["httpd", "-f", "-p", "8080", "-h", "/www"]
`

const page = (greeting: string) => `<!doctype html>
<html lang="en">
  <title>${greeting}</title>
  <h1>${greeting}</h1>
</html>
`

/** A git repository with a page that says what its commit says, and nothing else unless a Dockerfile is needed. */
export function makeSample(repositories: string, { hasDockerfile = true } = {}) {
  const name = 'hello.git'
  const path = makeRepository(repositories, name)
  return {
    name,
    /** Commits a page that says this. */
    commit(greeting: string): Commit {
      const files = {
        ...(hasDockerfile && { Dockerfile: dockerfile }),
        'index.html': page(greeting),
      }
      return { greeting, hash: commitFiles(path, files, { message: `Say “${greeting}”` }) }
    },
  }
}
