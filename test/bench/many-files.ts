/** Commits many files of text to a bare repository, through one process of git. */
export async function commitMany(
  repository: string,
  { count, size, files }: { count: number; size: number; files: Record<string, string> },
) {
  const git = Bun.spawn(['git', 'fast-import', '--quiet'], {
    cwd: repository,
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', GIT_DIR: repository },
    stdin: 'pipe',
    stderr: 'inherit',
  })
  const put = (path: string, text: string) =>
    git.stdin.write(`M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}\n`)
  git.stdin.write('commit refs/heads/main\ncommitter Ada <ada@example.com> 0 +0000\ndata 4\nMany\n')
  for (const [path, text] of Object.entries(files)) put(path, text)
  for (let i = 0; i < count; i++) {
    put(`src/${i % 50}/${Math.floor(i / 50)}.txt`, textOf(size))
    if (i % 100 === 0) await git.stdin.flush()
  }
  await git.stdin.end()
  if ((await git.exited) !== 0) throw new Error('git does not take many files')
}

/** Text that packs as well as source does: to a third or so. */
function textOf(size: number) {
  const noise = Buffer.from(crypto.getRandomValues(new Uint8Array(size / 4))).toString('hex')
  return noise.replaceAll(/.{64}/g, '$&  // text\n').padEnd(size, 'abc ').slice(0, size)
}
