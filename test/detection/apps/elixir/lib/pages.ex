defmodule Pages do
  use Application

  @page "Hello, world"

  def start(_, _) do
    Supervisor.start_link([{Task, &listen/0}], strategy: :one_for_one)
  end

  defp listen do
    port = Application.fetch_env!(:pages, :port)
    {:ok, socket} = :gen_tcp.listen(port, [:binary, packet: :http_bin, active: false, reuseaddr: true])
    accept(socket)
  end

  defp accept(socket) do
    {:ok, client} = :gen_tcp.accept(socket)
    Task.start(fn -> respond(client) end)
    accept(socket)
  end

  defp respond(client) do
    case :gen_tcp.recv(client, 0, 5000) do
      {:ok, :http_eoh} ->
        head = "HTTP/1.1 200 OK\r\ncontent-length: #{byte_size(@page)}\r\nconnection: close\r\n\r\n"
        :gen_tcp.send(client, head <> @page)
        :gen_tcp.close(client)

      {:ok, _} ->
        respond(client)

      {:error, _} ->
        :gen_tcp.close(client)
    end
  end
end
