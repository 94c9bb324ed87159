# PowerShell (5.1 of Windows, and 7) sends to joind what comes through its pipe:
#     Get-Content orders.csv | ./powershell-to-joind.ps1
# joind's side: lines.ini.
# Yours to change: 127.0.0.1 8000
param(
    [Parameter(ValueFromPipeline)] [string] $Line
)

begin {
    $client = [System.Net.Sockets.TcpClient]::new('127.0.0.1', 8000)
    # TRAP: [Text.Encoding]::UTF8 puts a byte order mark in front. joind passes over one at a
    # connection's start; in a file that something else reads it would be part of the first column.
    $utf8 = [System.Text.UTF8Encoding]::new($false)
    $writer = [System.IO.StreamWriter]::new($client.GetStream(), $utf8)
    # TRAP: on Windows WriteLine ends lines in CR LF. joind takes that, too.
    $writer.NewLine = "`n"
}

process {
    $writer.WriteLine($Line)
}

end {
    $writer.Flush()
    # TRAP: an immediate Close may lose what is still under way. End our side, and wait for joind
    # to close, which it does when it has read everything.
    $client.Client.Shutdown([System.Net.Sockets.SocketShutdown]::Send)
    [void] $client.GetStream().ReadByte()
    $client.Close()
}
