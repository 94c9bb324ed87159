# PowerShell (5.1 of Windows, and 7) reads joind's results, from now on:
#     ./joind-to-powershell.ps1 | ConvertFrom-Json        with [output] format = json
# joind's side: lines.ini ([output] listen).
# Yours to change: 127.0.0.1 9000
$client = [System.Net.Sockets.TcpClient]::new('127.0.0.1', 9000)
$utf8 = [System.Text.UTF8Encoding]::new($false)
$reader = [System.IO.StreamReader]::new($client.GetStream(), $utf8)
try {
    while ($null -ne ($line = $reader.ReadLine())) {
        $line
    }
} finally {
    $client.Close()
}
